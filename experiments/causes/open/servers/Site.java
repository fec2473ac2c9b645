// Pages of Java's own server: /lock?5 holds a lock for so many ms, /burn-and-lock?5 burns half as many before, and
// /garbage makes what has to be collected.
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.concurrent.Executors;

public class Site {
    static final Object LOCK = new Object();
    static final ArrayDeque<byte[]> KEPT = new ArrayDeque<>();

    static void hold(long millis) throws InterruptedException {
        synchronized (LOCK) {
            Thread.sleep(millis);
        }
    }

    static long burn(double millis) {
        long end = System.nanoTime() + (long) (millis * 1e6);
        long sum = 0;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 1000; i++) {
                sum += i * end;
            }
        }
        return sum;
    }

    static void garbage() {
        for (int i = 0; i < 400; i++) {
            byte[] made = new byte[4000];
            synchronized (KEPT) {
                KEPT.add(made);
                if (KEPT.size() > 11000) {
                    KEPT.poll();
                }
            }
        }
    }

    static void answer(HttpExchange exchange) throws IOException {
        try {
            String query = exchange.getRequestURI().getQuery();
            String path = exchange.getRequestURI().getPath();
            if (path.equals("/lock")) {
                hold(Long.parseLong(query));
            } else if (path.equals("/burn-and-lock")) {
                burn(Long.parseLong(query) / 2.0);
                hold(Long.parseLong(query));
            } else {
                garbage();
            }
        } catch (InterruptedException why) {
            Thread.currentThread().interrupt();
        }
        byte[] body = "done\n".getBytes();
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    public static void main(String[] words) throws IOException {
        var address = new InetSocketAddress(words[0], Integer.parseInt(words[1]));
        HttpServer server = HttpServer.create(address, 511);
        server.createContext("/", Site::answer);
        server.setExecutor(Executors.newFixedThreadPool(32));
        server.start();
    }
}
