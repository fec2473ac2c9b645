import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** Pages on Tomcat: Pages ADDRESS PORT DIRECTORY [NAME=VALUE]... A page does what is set, in the order below. */
public class Pages extends HttpServlet {
    private static final Map<String, Integer> SET = new HashMap<>();
    private static final Object PRICES = new Object();
    private static byte[][] kept = new byte[0][];

    private static int set(String name) {
        return SET.getOrDefault(name, 0);
    }

    /** Waits for so many tenths of a millisecond. */
    private static void pause(int tenths) {
        try {
            Thread.sleep(tenths / 10, tenths % 10 * 100_000);
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    private static void ask() throws IOException {
        var partner = URI.create("http://127.0.0.1:" + set("ask") + "/").toURL();
        var connection = (HttpURLConnection) partner.openConnection();
        try (var answer = connection.getInputStream()) {
            answer.readAllBytes();
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        pause(set("wait"));
        if (set("lock") > 0) {
            synchronized (PRICES) {
                pause(set("lock"));
            }
        }
        if (set("ask") > 0) ask();
        for (int at = 0; at < set("replace"); at += 1) {
            kept[ThreadLocalRandom.current().nextInt(kept.length)] = new byte[1000];
        }
        List<String> rows = new ArrayList<>();
        for (int row = 0; row < set("rows"); row += 1) rows.add(String.format("%05d", row * 7919 % 10007));
        rows.sort(null);
        response.setContentType("text/html");
        response.getOutputStream().print("page " + rows.size());
    }

    /** Makes the list of prices anew, again and again, for which pages wait meanwhile. */
    private static void rebuild() {
        while (true) {
            pause(set("every") * 10 - set("rebuild") * 10);
            synchronized (PRICES) {
                pause(set("rebuild") * 10);
            }
        }
    }

    public static void main(String[] words) throws Exception {
        LogManager.getLogManager().reset();
        Logger.getLogger("").setLevel(Level.OFF);
        System.setProperty("http.maxConnections", "400");
        for (int at = 3; at < words.length; at += 1) {
            String[] word = words[at].split("=");
            SET.put(word[0], Integer.valueOf(word[1]));
        }
        kept = new byte[set("kept")][];
        for (int at = 0; at < kept.length; at += 1) kept[at] = new byte[1000];
        if (set("rebuild") > 0) {
            Thread task = new Thread(Pages::rebuild);
            task.setDaemon(true);
            task.start();
        }
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(words[2]);
        Connector connector = new Connector();
        connector.setPort(Integer.parseInt(words[1]));
        connector.setProperty("address", words[0]);
        connector.setProperty("maxThreads", String.valueOf(set("threads")));
        connector.setProperty("minSpareThreads", String.valueOf(set("threads")));
        connector.setProperty("acceptCount", "1024");
        connector.setProperty("maxKeepAliveRequests", "-1");
        tomcat.setConnector(connector);
        Context site = tomcat.addContext("", words[2]);
        Tomcat.addServlet(site, "pages", new Pages());
        site.addServletMappingDecoded("/", "pages");
        tomcat.start();
        tomcat.getServer().await();
    }
}
