# Pages of a Ruby application, and how Puma serves them. What a page does comes from the environment.
require "net/http"

ASK = ENV["ASK"]
WAIT = ENV["WAIT"]
HOLD = ENV["HOLD"]
ROWS = ENV.fetch("ROWS", "0").to_i
ONE = Mutex.new

# Asks the partner, over a connection that the thread keeps.
def ask(milliseconds)
  partner = Thread.current[:partner] ||= Net::HTTP.new("127.0.0.1", ASK.to_i).tap do |http|
    http.keep_alive_timeout = 60
    http.start
  end
  partner.get("/#{milliseconds}").body
end

# A table of so many rows, as a template would make it.
def table
  (1..ROWS).map { |row| "<tr><td>#{row}</td><td>#{format('%.2f', row * 1.19)}</td></tr>" }.join
end

app do |_env|
  ONE.synchronize { ask(HOLD) } if HOLD
  ask(WAIT)
  body = "<html>#{table}</html>"
  [200, { "Content-Type" => "text/html", "Content-Length" => body.bytesize.to_s }, [body]]
end
