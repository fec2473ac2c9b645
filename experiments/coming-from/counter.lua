local visit = 0

function request()
  visit = visit + 1
  return wrk.format(nil, "/?visit=" .. visit)
end
