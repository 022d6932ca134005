"""The door: thin functions that read options, call one act and print. The only room that prints."""
