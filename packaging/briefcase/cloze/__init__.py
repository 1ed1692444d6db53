"""What Briefcase's starter runs: a module that is called as the program is."""
