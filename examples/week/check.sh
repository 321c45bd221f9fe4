#!/bin/sh
# A timetable is right if each departure is later than the one above it.
sort -c -u timetable.txt
