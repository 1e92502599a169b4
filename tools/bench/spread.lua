-- For wrk: asks for the paths of a file, each with the same probability. The sequence depends on the seed alone.
-- Requests are made beforehand, so that the load costs little.
local requests = {}

function init(args)
  math.randomseed(tonumber(args[2]))
  for path in io.lines(args[1]) do
    requests[#requests + 1] = wrk.format('GET', path)
  end
end

function request()
  return requests[math.random(#requests)]
end
