module headworks/tests/world/server

go 1.26
