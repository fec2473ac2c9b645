local token

function request()
  if token then
    return wrk.format("GET", "/items?page=1", { Authorization = "Bearer " .. token })
  end
  local body = '{"user": "ann", "password": "secret of ann"}'
  return wrk.format("POST", "/login", { ["Content-Type"] = "application/json" }, body)
end

function response(status, headers, body)
  token = token or body:match('"token": "([^"]+)"')
end
