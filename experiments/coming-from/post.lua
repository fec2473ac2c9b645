wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"item": 3, "count": 2}'
