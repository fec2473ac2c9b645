import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/**
 * A site in Java: Site ADDRESS PORT NAME=VALUE...
 *
 * <p>threads; wait: ms; log: ms with a lock; sort: numbers; pool: places, pooled: ms in them; keep: MB of small
 * objects; allocate: KB; shift: ms after which sorting takes the place of the pool, and the other way round.
 */
public class Site {
    private static final Object LOG = new Object();
    private static final Map<String, Integer> SET = new HashMap<>();

    private static int set(String name, int otherwise) {
        return SET.getOrDefault(name, otherwise);
    }

    private static void sort(int count) {
        int[] numbers = new Random(7).ints(count).toArray();
        Arrays.sort(numbers);
    }

    private static void pooled(Semaphore pool) throws InterruptedException {
        pool.acquire();
        try {
            Thread.sleep(set("pooled", 10));
        } finally {
            pool.release();
        }
    }

    private static void page(Semaphore pool) throws InterruptedException {
        int shift = set("shift", 0);
        boolean first = shift == 0 || System.currentTimeMillis() / Math.max(1, shift) % 2 == 0;
        boolean second = shift == 0 || !first;
        if (first && set("sort", 0) > 0) {
            sort(set("sort", 0));
        }
        if (second && set("pool", 0) > 0) {
            pooled(pool);
        }
        if (set("wait", 0) > 0) {
            Thread.sleep(set("wait", 0));
        }
        if (set("log", 0) > 0) {
            synchronized (LOG) {
                Thread.sleep(set("log", 0));
            }
        }
    }

    public static void main(String[] given) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        for (String word : Arrays.asList(given).subList(2, given.length)) {
            String[] parts = word.split("=");
            SET.put(parts[0], Integer.parseInt(parts[1]));
        }
        List<Object> kept = new ArrayList<>();
        for (int at = 0; at < set("keep", 0) * 8192; at++) {
            Object[] row = new Object[6];
            row[0] = new byte[64];
            row[1] = at > 0 ? kept.get(at / 2) : null;
            kept.add(row);
        }
        Semaphore pool = new Semaphore(Math.max(1, set("pool", 1)));
        HttpServer server = HttpServer.create(new InetSocketAddress(given[0], Integer.parseInt(given[1])), 511);
        server.setExecutor(Executors.newFixedThreadPool(set("threads", 64)));
        server.createContext("/", exchange -> {
            try {
                page(pool);
            } catch (InterruptedException stopped) {
                throw new RuntimeException(stopped);
            }
            byte[][] parts = new byte[set("allocate", 0) / 2][];
            for (int at = 0; at < parts.length; at++) {
                parts[at] = new byte[2048];
            }
            byte[] answer = ("kept " + kept.size() + " made " + parts.length + "\n").getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }
}
