"""One page to send: what a page of the window shows, as one HTML file that anybody can open."""
