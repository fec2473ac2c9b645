import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;

/**
 * Pages of a process that keeps many small objects: Heap ADDRESS PORT OBJECTS BYTES MILLISECONDS.
 *
 * <p>Each page allocates so many bytes. Unless it is 0, all of the heap is collected at these intervals, as is done
 * for distributed collection by RMI.
 */
public class Heap {
    public static void main(String[] given) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        int objects = Integer.parseInt(given[2]);
        int bytes = Integer.parseInt(given[3]);
        int interval = Integer.parseInt(given[4]);
        Map<Integer, String> kept = new HashMap<>();
        for (int at = 0; at < objects; at++) {
            kept.put(at, "customer " + at);
        }
        HttpServer server = HttpServer.create(new InetSocketAddress(given[0], Integer.parseInt(given[1])), 511);
        server.setExecutor(Executors.newFixedThreadPool(32));
        server.createContext("/", exchange -> {
            byte[][] parts = new byte[bytes / 4096][];
            for (int at = 0; at < parts.length; at++) {
                parts[at] = new byte[4096];
            }
            byte[] answer = kept.get(parts.length).getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        while (interval > 0) {
            Thread.sleep(interval);
            System.gc();
        }
    }
}
