import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/**
 * Pages that compute under a lock, and wait for something else while they have it: Prices ADDRESS PORT BURN WAIT, both
 * in milliseconds.
 */
public class Prices {
    private static final Object LOCK = new Object();

    private static void burn(double milliseconds) {
        var threads = java.lang.management.ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + (long) (milliseconds * 1e6);
        while (threads.getCurrentThreadCpuTime() < end) {
            Thread.onSpinWait();
        }
    }

    public static void main(String[] given) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        double burn = Double.parseDouble(given[2]);
        long wait = (long) (Double.parseDouble(given[3]) * 1e6);
        HttpServer server = HttpServer.create(new InetSocketAddress(given[0], Integer.parseInt(given[1])), 511);
        server.setExecutor(Executors.newFixedThreadPool(100));
        server.createContext("/", exchange -> {
            synchronized (LOCK) {
                burn(burn);
                java.util.concurrent.locks.LockSupport.parkNanos(wait);
            }
            byte[] answer = "price\n".getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }
}
