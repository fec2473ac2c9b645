#!/bin/sh
# The page of a CGI program, for which Apache starts a process each time.
printf 'Content-Type: text/plain\nContent-Length: 8\n\nwelcome\n'
