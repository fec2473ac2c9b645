module headworks/tests/world/client

go 1.26
