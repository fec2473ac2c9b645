#!/bin/sh
# A page of the time of old: a process for each.
printf 'Content-Type: text/plain\nContent-Length: 8\n\nwelcome\n'
