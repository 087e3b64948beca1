"""The command line: one small module per subcommand, each the JSON twin of something on the screen."""
