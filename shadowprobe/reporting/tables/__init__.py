"""Tables as data, and what renders them for a terminal, a paper, a web page or a program."""
