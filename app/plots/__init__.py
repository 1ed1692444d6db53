"""One module a picture: values in, picture out. A plot knows no session."""
