//! The page that burns CPU time, for servers that run Lua.

/// Lua: `burn(query)` does what the query asks for and gives the page, or nil and what is wrong.
///
/// `os.clock` is the CPU time of the process, which does nothing else meanwhile. There is some
/// arithmetic between two looks at it, or the page would measure the kernel's clock instead of
/// burning as a program does.
pub(super) const BURN: &str = r#"local scales = { s = 1, ms = 1e-3, us = 1e-6 }

local function burn(query)
  local number, unit = string.match(query or "", "cpu=([%d%.]+)(%a*)")
  local scale = scales[unit]
  local seconds = scale and tonumber(number)
  if not seconds then
    return nil, "/burn?cpu=25ms burns 25 ms of CPU time"
  end
  local done = os.clock() + seconds * scale
  repeat
    local x = 0
    for i = 1, 2000 do x = x + i end
  until os.clock() >= done
  return "<!doctype html><title>Burnt</title><p>" .. number .. " " .. unit .. " of CPU time burnt"
end
"#;
