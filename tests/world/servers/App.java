import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.zip.GZIPOutputStream;

/** The application on the HTTP server that Java has: {@code java App.java PORT}. */
public class App {
    private static final Path HERE = Path.of(System.getenv("WORLD_DIR"));
    private static final int PIECE = 50_000;

    interface Route {
        void serve(HttpExchange exchange, String rest) throws Exception;
    }

    private static final Map<String, Route> ROUTES = Map.ofEntries(
            Map.entry("bytes", (exchange, rest) -> reply(exchange, 200, new byte[Integer.parseInt(rest)])),
            Map.entry("chunks", App::chunks),
            Map.entry("file", App::file),
            Map.entry("gzip", App::zipped),
            Map.entry("redirect", App::redirect),
            Map.entry("cookies", App::cookies),
            Map.entry("status", App::status),
            Map.entry("fields", App::fields),
            Map.entry("slow", App::slow),
            Map.entry("events", App::events),
            Map.entry("upload", App::upload),
            Map.entry("early", (exchange, rest) -> reply(exchange, 413, "too much".getBytes())));

    public static void main(String[] arguments) throws IOException {
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0]));
        var server = HttpServer.create(address, 64);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", App::serve);
        server.start();
    }

    private static void serve(HttpExchange exchange) {
        String[] parts = exchange.getRequestURI().getRawPath().split("/", 3);
        String name = parts.length > 1 ? parts[1] : "";
        try (exchange) {
            exchange.getResponseHeaders().set("Content-Type", "text/plain");
            ROUTES.getOrDefault(name, App::echo).serve(exchange, parts.length > 2 ? parts[2] : "");
        } catch (Exception error) {
            error.printStackTrace();
        }
    }

    private static void reply(HttpExchange exchange, int code, byte[] body) throws IOException {
        boolean empty = body.length == 0 || code == 204 || code == 304;
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", String.valueOf(body.length));
            empty = true;
        }
        exchange.sendResponseHeaders(code, empty ? -1 : body.length);
        if (!empty) {
            exchange.getResponseBody().write(body);
        }
    }

    private static void echo(HttpExchange exchange, String rest) throws Exception {
        byte[] body = exchange.getRequestBody().readAllBytes();
        List<String> lines = new ArrayList<>();
        exchange.getRequestHeaders().forEach((name, values) -> {
            for (String value : values) {
                lines.add(name.toLowerCase() + ": " + value);
            }
        });
        Collections.sort(lines);
        lines.add(0, exchange.getRequestMethod() + " " + exchange.getRequestURI());
        String digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(body));
        lines.add("body: " + body.length + " " + digest);
        reply(exchange, 200, String.join("\n", lines).getBytes(StandardCharsets.ISO_8859_1));
    }

    private static void chunks(HttpExchange exchange, String rest) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "application/octet-stream");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(200, -1);
            return;
        }
        exchange.sendResponseHeaders(200, 0);
        for (int left = Integer.parseInt(rest); left > 0; left -= PIECE) {
            exchange.getResponseBody().write(new byte[Math.min(left, PIECE)]);
            exchange.getResponseBody().flush();
        }
    }

    private static void file(HttpExchange exchange, String rest) throws IOException {
        byte[] content = Files.readAllBytes(HERE.resolve("file.bin"));
        var asked = exchange.getRequestHeaders();
        var told = exchange.getResponseHeaders();
        told.set("ETag", "\"world-1\"");
        told.set("Accept-Ranges", "bytes");
        if ("\"world-1\"".equals(asked.getFirst("If-None-Match"))) {
            exchange.sendResponseHeaders(304, -1);
            return;
        }
        String span = asked.getFirst("Range");
        boolean same = !asked.containsKey("If-Range") || "\"world-1\"".equals(asked.getFirst("If-Range"));
        if (span == null || !same) {
            reply(exchange, 200, content);
            return;
        }
        String[] ends = span.substring("bytes=".length()).split("-", 2);
        int start = ends[0].isEmpty() ? content.length - Integer.parseInt(ends[1]) : Integer.parseInt(ends[0]);
        boolean open = ends[0].isEmpty() || ends[1].isEmpty();
        int end = open ? content.length : Math.min(Integer.parseInt(ends[1]) + 1, content.length);
        if (start >= content.length) {
            told.set("Content-Range", "bytes */" + content.length);
            reply(exchange, 416, new byte[0]);
            return;
        }
        told.set("Content-Range", "bytes " + start + "-" + (end - 1) + "/" + content.length);
        reply(exchange, 206, java.util.Arrays.copyOfRange(content, start, end));
    }

    private static void zipped(HttpExchange exchange, String rest) throws IOException {
        var body = new ByteArrayOutputStream();
        try (var writer = new GZIPOutputStream(body)) {
            writer.write("zipped ".repeat(1000).getBytes());
        }
        exchange.getResponseHeaders().set("Content-Encoding", "gzip");
        exchange.getResponseHeaders().set("Vary", "Accept-Encoding");
        reply(exchange, 200, body.toByteArray());
    }

    private static void redirect(HttpExchange exchange, String rest) throws IOException {
        exchange.getResponseHeaders().set("Location", "/echo?redirected");
        reply(exchange, Integer.parseInt(rest), "moved".getBytes());
    }

    private static void cookies(HttpExchange exchange, String rest) throws IOException {
        for (String cookie : List.of("a=1; Path=/", "b=2; HttpOnly", "c=\"d e\"; Max-Age=60")) {
            exchange.getResponseHeaders().add("Set-Cookie", cookie);
        }
        reply(exchange, 200, "cookies".getBytes());
    }

    private static void status(HttpExchange exchange, String rest) throws IOException {
        if (rest.equals("401")) {
            exchange.getResponseHeaders().set("WWW-Authenticate", "Basic realm=\"world\"");
        }
        if (rest.equals("429") || rest.equals("503")) {
            exchange.getResponseHeaders().set("Retry-After", "7");
        }
        reply(exchange, Integer.parseInt(rest), ("status " + rest).getBytes());
    }

    private static void fields(HttpExchange exchange, String rest) throws IOException {
        var told = exchange.getResponseHeaders();
        told.set("Content-Disposition", "attachment; filename=\"\u00dcber.csv\"");
        told.set("X-Long", "l".repeat(6000));
        for (int count = 0; count < 40; count++) {
            told.add("X-Many", String.valueOf(count));
        }
        reply(exchange, 200, "fields".getBytes());
    }

    private static void slow(HttpExchange exchange, String rest) throws Exception {
        Thread.sleep(300);
        reply(exchange, 200, "slow".getBytes());
    }

    private static String asked(HttpExchange exchange, String name) {
        for (String pair : exchange.getRequestURI().getQuery().split("&")) {
            if (pair.startsWith(name + "=")) {
                return pair.substring(name.length() + 1);
            }
        }
        return "";
    }

    private static void events(HttpExchange exchange, String rest) throws Exception {
        exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
        exchange.sendResponseHeaders(200, 0);
        for (int number = 0; number < Integer.parseInt(asked(exchange, "n")); number++) {
            exchange.getResponseBody().write(("data: " + number + "\n\n").getBytes());
            exchange.getResponseBody().flush();
            Path mark = HERE.resolve(asked(exchange, "id") + "." + number);
            for (int count = 0; count < 1000 && !Files.exists(mark); count++) {
                Thread.sleep(5);
            }
            if (!Files.exists(mark)) {
                exchange.getResponseBody().write("data: not acknowledged\n\n".getBytes());
                return;
            }
        }
    }

    private static void upload(HttpExchange exchange, String rest) throws IOException {
        InputStream body = exchange.getRequestBody();
        byte[] piece = new byte[1000];
        int total = 0;
        for (int length; (length = body.read(piece)) > 0; ) {
            for (int number = total / 1000 + 1; number <= (total + length) / 1000; number++) {
                Files.createFile(HERE.resolve(asked(exchange, "id") + "." + number * 1000));
            }
            total += length;
        }
        reply(exchange, 200, ("got " + total).getBytes());
    }
}
