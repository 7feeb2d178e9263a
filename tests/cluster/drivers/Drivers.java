import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;

/** Calls daybook as JDBC does: every form of bound, with and without a type, prepared on the client and on the server. */
public class Drivers {
    static final String LOAD =
        "SELECT interval_start, status, rows_inserted FROM load_interval(?::regclass, ?, ?, wide => ?, params => ?::jsonb, as_of => ?)";

    static void check(String what, Object found, Object expected) {
        if (!found.equals(expected)) {
            System.err.println(what + ": " + found + " instead of " + expected);
            System.exit(1);
        }
    }

    static String rows(PreparedStatement statement) throws Exception {
        StringBuilder text = new StringBuilder();
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                text.append(rows.getObject(1, OffsetDateTime.class).withOffsetSameInstant(ZoneOffset.UTC))
                    .append(' ').append(rows.getString(2)).append(' ').append(rows.getLong(3)).append('\n');
            }
        }
        return text.toString();
    }

    static int calls(String url, Properties properties, int prepareThreshold) throws Exception {
        Map<String, Object> starts = new LinkedHashMap<>();
        starts.put("date as text", "2026-09-12");
        starts.put("local time as text", "2026-09-12 00:00");
        starts.put("instant as text", "2026-09-11 22:00+00");
        starts.put("LocalDate", LocalDate.of(2026, 9, 12));
        starts.put("LocalDateTime", LocalDateTime.of(2026, 9, 12, 0, 0));
        starts.put("OffsetDateTime", OffsetDateTime.of(2026, 9, 11, 22, 0, 0, 0, ZoneOffset.UTC));
        starts.put("java.sql.Date", java.sql.Date.valueOf("2026-09-12"));
        Map<String, Object> ends = new LinkedHashMap<>();
        ends.put("date as text", "2026-09-14");
        ends.put("LocalDate", LocalDate.of(2026, 9, 14));
        ends.put("OffsetDateTime", OffsetDateTime.of(2026, 9, 13, 22, 0, 0, 0, ZoneOffset.UTC));
        String expected = "2026-09-11T22:00Z loaded 2\n2026-09-12T22:00Z loaded 2\n";
        int count = 0;
        try (Connection connection = DriverManager.getConnection(url, properties)) {
            connection.unwrap(org.postgresql.PGConnection.class).setPrepareThreshold(prepareThreshold);
            try (Statement statement = connection.createStatement()) {
                statement.execute(
                    "DROP TABLE IF EXISTS src, fact;"
                    + "CREATE TABLE src (id int, account text, at timestamptz);"
                    + "INSERT INTO src SELECT n, 'A-' || n % 3, timestamptz '2026-09-11 01:00+02' + n * interval '12 hours'"
                    + " FROM generate_series(0, 9) AS n;"
                    + "CREATE TABLE fact (id int, account text, at timestamptz, interval_start timestamptz NOT NULL);"
                    + "SELECT register_load('fact', 'src', time_column => 'at', zone => 'Europe/Berlin')");
            }
            for (Map.Entry<String, Object> start : starts.entrySet()) {
                // One statement for all ends: the server keeps what it has prepared.
                try (PreparedStatement load = connection.prepareStatement(LOAD)) {
                    for (int round = 0; round < 3; round++) {
                        for (Map.Entry<String, Object> end : ends.entrySet()) {
                            load.setString(1, "fact");
                            load.setObject(2, start.getValue());
                            load.setObject(3, end.getValue());
                            load.setBoolean(4, count % 2 == 0);
                            load.setString(5, "{}");
                            load.setNull(6, Types.TIMESTAMP_WITH_TIMEZONE);
                            check(start.getKey() + " to " + end.getKey(), rows(load), expected);
                            count++;
                        }
                    }
                }
            }
            // No end, and a clock.
            try (PreparedStatement load = connection.prepareStatement(LOAD)) {
                load.setString(1, "fact");
                load.setString(2, "yesterday");
                load.setNull(3, Types.VARCHAR);
                load.setBoolean(4, false);
                load.setString(5, "{}");
                load.setObject(6, OffsetDateTime.of(2026, 9, 14, 10, 0, 0, 0, ZoneOffset.UTC));
                check("yesterday", rows(load), "2026-09-12T22:00Z loaded 2\n");
            }
            // Column lists: an array, and text.
            Object[] lists = {connection.createArrayOf("text", new String[] {"id", "account"}), "{id,account}", "id, account"};
            for (Object list : lists) {
                try (PreparedStatement register = connection.prepareStatement(
                        "SELECT register_load(?::regclass, ?::regclass, ?, zone => ?, keys => ?)")) {
                    register.setString(1, "fact");
                    register.setString(2, "src");
                    register.setString(3, "at");
                    register.setString(4, "Europe/Berlin");
                    register.setObject(5, list);
                    register.executeQuery().close();
                    count++;
                }
                try (Statement statement = connection.createStatement();
                        ResultSet rows = statement.executeQuery("SELECT array_to_string(keys, ' ') FROM daybook.loads")) {
                    rows.next();
                    check("keys from " + list, rows.getString(1), "id account");
                }
            }
        }
        return count;
    }

    public static void main(String[] arguments) throws Exception {
        for (String stringType : new String[] {"varchar", "unspecified"}) {
            for (int threshold : new int[] {0, 1, 5, -1}) {
                Properties properties = new Properties();
                properties.setProperty("user", "postgres");
                properties.setProperty("stringtype", stringType);
                int count = calls(arguments[0], properties, threshold);
                System.out.println("JDBC, stringtype=" + stringType + ", prepareThreshold=" + threshold + ": " + count + " calls");
            }
        }
    }
}
