# Pages of a Ruby application, and how Puma serves them. What a page does comes from the environment.
require "net/http"
require "resolv"
require "socket"

ASK = ENV["ASK"]
WAIT = ENV.fetch("WAIT", "0")
HOLD = ENV["HOLD"]
ROWS = ENV.fetch("ROWS", "0").to_i
LIVE = ENV.fetch("LIVE", "0").to_i
COLLECT = ENV["COLLECT"]&.to_f
NAMES = ENV["NAMES"]&.to_i
ONE = Mutex.new

# Asks the partner, over a connection that the thread keeps.
def ask(milliseconds)
  partner = Thread.current[:partner] ||= Net::HTTP.new("127.0.0.1", ASK.to_i).tap do |http|
    http.keep_alive_timeout = 60
    http.start
  end
  partner.get("/#{milliseconds}").body
end

def address_of(name)
  resolver = Thread.current[:resolver] ||= Resolv::DNS.new(
    nameserver_port: [["127.0.0.1", NAMES]], search: [], ndots: 1
  )
  resolver.getaddress(name).to_s
end

# A table of so many rows, as a template would make it.
def table
  (1..ROWS).map { |row| "<tr><td>#{row}</td><td>#{format('%.2f', row * 1.19)}</td></tr>" }.join
end

KEPT = Array.new(LIVE) { |at| ["article #{at}", at] }

# A task that returns memory, again and again.
if COLLECT
  Thread.new do
    loop do
      sleep COLLECT
      GC.start
    end
  end
end

app do |_env|
  ONE.synchronize { ask(HOLD) } if HOLD
  address_of("partner.example") if NAMES
  ask(WAIT) if ASK && WAIT != "0"
  body = "<html>#{table}</html>"
  [200, { "Content-Type" => "text/html", "Content-Length" => body.bytesize.to_s }, [body]]
end
