import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;

/** Each page takes a connection of a pool for one query: Shop ADDRESS PORT DATABASE-PORT POOL. */
public class Shop {
    public static void main(String[] given) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        int pool = Integer.parseInt(given[3]);
        BlockingQueue<Socket> connections = new ArrayBlockingQueue<>(pool);
        for (int count = 0; count < pool; count++) {
            Socket connection = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(given[2]));
            connection.setTcpNoDelay(true);
            connections.add(connection);
        }
        HttpServer server = HttpServer.create(new InetSocketAddress(given[0], Integer.parseInt(given[1])), 511);
        server.setExecutor(Executors.newFixedThreadPool(200));
        server.createContext("/", exchange -> {
            byte[] answer = new byte[16];
            int length;
            try {
                Socket connection = connections.take();
                try {
                    connection.getOutputStream().write("price\n".getBytes());
                    length = connection.getInputStream().read(answer);
                } finally {
                    connections.add(connection);
                }
            } catch (InterruptedException stopped) {
                throw new RuntimeException(stopped);
            }
            exchange.sendResponseHeaders(200, length);
            exchange.getResponseBody().write(answer, 0, length);
            exchange.close();
        });
        server.start();
    }
}
