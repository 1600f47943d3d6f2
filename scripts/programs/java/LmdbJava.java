// Uses all of lmdbjava's interface on the library named by lmdbjava.native.lib. Prints "ok WHAT" or
// "FAILED WHAT" for each check, and "done" at its end. The argument is an empty folder.

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.lmdbjava.ByteArrayProxy;
import org.lmdbjava.Cursor;
import org.lmdbjava.CursorIterable;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.GetOp;
import org.lmdbjava.KeyRange;
import org.lmdbjava.PutFlags;
import org.lmdbjava.SeekOp;
import org.lmdbjava.Txn;

public class LmdbJava {
  interface Body {
    Object run() throws Exception;
  }

  static void is(String what, Object expected, Body body) {
    Object answer;
    try {
      answer = body.run();
    } catch (Throwable thrown) {
      answer = thrown.getClass().getSimpleName();
    }
    boolean same = expected.equals(answer);
    System.out.println(same ? "ok " + what : "FAILED " + what + ": " + answer + " instead of " + expected);
  }

  static ByteBuffer bytes(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length);
    buffer.put(bytes).flip();
    return buffer;
  }

  static String text(ByteBuffer buffer) {
    return buffer == null ? "none" : UTF_8.decode(buffer.duplicate()).toString();
  }

  static String key(int number) {
    return String.format("key%05d", number);
  }

  static Env<ByteBuffer> open(File folder, EnvFlags... flags) {
    return Env.create().setMapSize(64 << 20).setMaxDbs(8).setMaxReaders(16).open(folder, flags);
  }

  static List<String> keys(Env<ByteBuffer> env, Dbi<ByteBuffer> dbi, KeyRange<ByteBuffer> range) {
    List<String> found = new ArrayList<>();
    try (Txn<ByteBuffer> txn = env.txnRead(); CursorIterable<ByteBuffer> all = dbi.iterate(txn, range)) {
      for (CursorIterable.KeyVal<ByteBuffer> pair : all) {
        found.add(text(pair.key()));
      }
    }
    return found;
  }

  static List<String> expected(int from, int to, int step) {
    List<String> list = new ArrayList<>();
    for (int number = from; step > 0 ? number <= to : number >= to; number += step) {
      list.add(key(number));
    }
    return list;
  }

  static void plain(Env<ByteBuffer> env) {
    Dbi<ByteBuffer> dbi = env.openDbi("plain", DbiFlags.MDB_CREATE);
    is("a put and a get", "value", () -> {
      dbi.put(bytes("one"), bytes("value"));
      try (Txn<ByteBuffer> txn = env.txnRead()) {
        return text(dbi.get(txn, bytes("one")));
      }
    });
    is("a missing key", "none", () -> {
      try (Txn<ByteBuffer> txn = env.txnRead()) {
        return text(dbi.get(txn, bytes("two")));
      }
    });
    is("no overwriting", false, () -> {
      try (Txn<ByteBuffer> txn = env.txnWrite()) {
        return dbi.put(txn, bytes("one"), bytes("other"), PutFlags.MDB_NOOVERWRITE);
      }
    });
    is("an aborted change", "value", () -> {
      try (Txn<ByteBuffer> txn = env.txnWrite()) {
        dbi.put(txn, bytes("one"), bytes("changed"));
        txn.abort();
      }
      try (Txn<ByteBuffer> txn = env.txnRead()) {
        return text(dbi.get(txn, bytes("one")));
      }
    });
    is("a nested transaction", "outer inner none", () -> {
      try (Txn<ByteBuffer> txn = env.txnWrite()) {
        dbi.put(txn, bytes("a"), bytes("outer"));
        try (Txn<ByteBuffer> child = env.txn(txn)) {
          dbi.put(child, bytes("b"), bytes("inner"));
          child.commit();
        }
        try (Txn<ByteBuffer> child = env.txn(txn)) {
          dbi.put(child, bytes("c"), bytes("aborted"));
        }
        txn.commit();
      }
      try (Txn<ByteBuffer> txn = env.txnRead()) {
        return text(dbi.get(txn, bytes("a"))) + " " + text(dbi.get(txn, bytes("b"))) + " " + text(dbi.get(txn, bytes("c")));
      }
    });
    is("deletes", "true false", () -> dbi.delete(bytes("a")) + " " + dbi.delete(bytes("a")));
    is("a reserved value", "reserved", () -> {
      try (Txn<ByteBuffer> txn = env.txnWrite()) {
        dbi.reserve(txn, bytes("r"), 8).put("reserved".getBytes(UTF_8));
        txn.commit();
      }
      try (Txn<ByteBuffer> txn = env.txnRead()) {
        return text(dbi.get(txn, bytes("r")));
      }
    });
    is("a large value", 3_000_000, () -> {
      dbi.put(bytes("large"), ByteBuffer.allocateDirect(3_000_000));
      try (Txn<ByteBuffer> txn = env.txnRead()) {
        return dbi.get(txn, bytes("large")).remaining();
      }
    });
    is("a key that is too long", "BadValueSizeException", () -> {
      dbi.put(bytes("k".repeat(512)), bytes(""));
      return "stored";
    });
    is("a snapshot", "value", () -> {
      try (Txn<ByteBuffer> txn = env.txnRead()) {
        dbi.put(bytes("one"), bytes("later"));
        return text(dbi.get(txn, bytes("one")));
      }
    });
    is("a reset and renewed reader", "later", () -> {
      try (Txn<ByteBuffer> txn = env.txnRead()) {
        txn.reset();
        txn.renew();
        return text(dbi.get(txn, bytes("one")));
      }
    });
  }

  static void ranges(Env<ByteBuffer> env) {
    Dbi<ByteBuffer> dbi = env.openDbi("ranges", DbiFlags.MDB_CREATE);
    is("many keys", 2000L, () -> {
      try (Txn<ByteBuffer> txn = env.txnWrite()) {
        for (int number = 0; number < 4000; number += 2) {
          dbi.put(txn, bytes(key(number)), bytes("v" + number), PutFlags.MDB_APPEND);
        }
        txn.commit();
      }
      try (Txn<ByteBuffer> txn = env.txnRead()) {
        return dbi.stat(txn).entries;
      }
    });
    is("out of order", "KeyExistsException", () -> {
      try (Txn<ByteBuffer> txn = env.txnWrite()) {
        dbi.put(txn, bytes("a"), bytes(""), PutFlags.MDB_APPEND);
      }
      return "stored";
    });
    is("all", expected(0, 3998, 2), () -> keys(env, dbi, KeyRange.all()));
    is("all, backwards", expected(3998, 0, -2), () -> keys(env, dbi, KeyRange.allBackward()));
    is("at least", expected(3002, 3998, 2), () -> keys(env, dbi, KeyRange.atLeast(bytes(key(3001)))));
    is("at most", expected(0, 200, 2), () -> keys(env, dbi, KeyRange.atMost(bytes(key(201)))));
    is("closed", expected(100, 300, 2), () -> keys(env, dbi, KeyRange.closed(bytes(key(100)), bytes(key(300)))));
    is("open", expected(102, 298, 2), () -> keys(env, dbi, KeyRange.open(bytes(key(100)), bytes(key(300)))));
    is("closed and open", expected(100, 298, 2), () -> keys(env, dbi, KeyRange.closedOpen(bytes(key(100)), bytes(key(300)))));
    is("open and closed", expected(102, 300, 2), () -> keys(env, dbi, KeyRange.openClosed(bytes(key(100)), bytes(key(300)))));
    is("backwards from between", expected(300, 102, -2),
        () -> keys(env, dbi, KeyRange.closedBackward(bytes(key(301)), bytes(key(101)))));
    is("greater", expected(3992, 3998, 2), () -> keys(env, dbi, KeyRange.greaterThan(bytes(key(3990)))));
    is("less", expected(0, 8, 2), () -> keys(env, dbi, KeyRange.lessThan(bytes(key(10)))));
    is("none", Collections.emptyList(), () -> keys(env, dbi, KeyRange.atLeast(bytes("z"))));
    is("a cursor", key(0) + key(2) + key(3998) + key(3996) + key(50) + "false", () -> {
      try (Txn<ByteBuffer> txn = env.txnRead(); Cursor<ByteBuffer> cursor = dbi.openCursor(txn)) {
        StringBuilder met = new StringBuilder();
        cursor.first();
        met.append(text(cursor.key()));
        cursor.next();
        met.append(text(cursor.key()));
        cursor.last();
        met.append(text(cursor.key()));
        cursor.prev();
        met.append(text(cursor.key()));
        cursor.get(bytes(key(49)), GetOp.MDB_SET_RANGE);
        met.append(text(cursor.key()));
        return met.append(cursor.get(bytes(key(49)), GetOp.MDB_SET_KEY)).toString();
      }
    });
    is("a cursor deletes", expected(2, 3998, 2), () -> {
      try (Txn<ByteBuffer> txn = env.txnWrite(); Cursor<ByteBuffer> cursor = dbi.openCursor(txn)) {
        cursor.first();
        cursor.delete();
        cursor.close();
        txn.commit();
      }
      return keys(env, dbi, KeyRange.all());
    });
    is("emptied", 0L, () -> {
      try (Txn<ByteBuffer> txn = env.txnWrite()) {
        dbi.drop(txn);
        txn.commit();
      }
      try (Txn<ByteBuffer> txn = env.txnRead()) {
        return dbi.stat(txn).entries;
      }
    });
  }

  static void duplicates(Env<ByteBuffer> env) {
    Dbi<ByteBuffer> dbi = env.openDbi("duplicates", DbiFlags.MDB_CREATE, DbiFlags.MDB_DUPSORT);
    is("values of a key", "300 v000 v299 v150", () -> {
      try (Txn<ByteBuffer> txn = env.txnWrite()) {
        for (int number = 299; number >= 0; number--) {
          dbi.put(txn, bytes("k"), bytes(String.format("v%03d", number)));
        }
        dbi.put(txn, bytes("l"), bytes("other"));
        txn.commit();
      }
      try (Txn<ByteBuffer> txn = env.txnRead(); Cursor<ByteBuffer> cursor = dbi.openCursor(txn)) {
        cursor.get(bytes("k"), GetOp.MDB_SET);
        String met = cursor.count() + " " + text(cursor.val());
        cursor.seek(SeekOp.MDB_LAST_DUP);
        met += " " + text(cursor.val());
        cursor.get(bytes("k"), bytes("v149x"), SeekOp.MDB_GET_BOTH_RANGE);
        return met + " " + text(cursor.val());
      }
    });
    is("the same value again", false, () -> {
      try (Txn<ByteBuffer> txn = env.txnWrite()) {
        return dbi.put(txn, bytes("k"), bytes("v001"), PutFlags.MDB_NODUPDATA);
      }
    });
    is("one value is deleted", "true 299", () -> {
      try (Txn<ByteBuffer> txn = env.txnWrite()) {
        boolean deleted = dbi.delete(txn, bytes("k"), bytes("v001"));
        txn.commit();
        try (Txn<ByteBuffer> read = env.txnRead(); Cursor<ByteBuffer> cursor = dbi.openCursor(read)) {
          cursor.get(bytes("k"), GetOp.MDB_SET);
          return deleted + " " + cursor.count();
        }
      }
    });
    // The order is a function of Java, which the library calls.
    Dbi<ByteBuffer> backwards = env.openDbi("backwards", (a, b) -> text(b).compareTo(text(a)), true, DbiFlags.MDB_CREATE);
    is("a comparison of Java", Arrays.asList("c", "b", "a"), () -> {
      for (String name : new String[] {"b", "c", "a"}) {
        backwards.put(bytes(name), bytes(""));
      }
      return keys(env, backwards, KeyRange.all());
    });
  }

  static String one(Env<ByteBuffer> env) {
    Dbi<ByteBuffer> dbi = env.openDbi("plain");
    try (Txn<ByteBuffer> txn = env.txnRead()) {
      return text(dbi.get(txn, bytes("one")));
    }
  }

  static void environments(Env<ByteBuffer> env, File folder) {
    is("names of databases", "[backwards, duplicates, plain, ranges]", () -> {
      List<String> names = new ArrayList<>();
      for (byte[] name : env.getDbiNames()) {
        names.add(new String(name, UTF_8));
      }
      return names.toString();
    });
    is("facts", "511 16 67108864", () -> env.getMaxKeySize() + " " + env.info().maxReaders + " " + env.info().mapSize);
    is("no dead readers", 0, env::readerCheck);
    File copy = new File(folder.getParentFile(), "copy");
    is("a copy", "later", () -> {
      copy.mkdir();
      env.copy(copy, org.lmdbjava.CopyFlags.MDB_CP_COMPACT);
      try (Env<ByteBuffer> other = open(copy, EnvFlags.MDB_RDONLY_ENV)) {
        return one(other);
      }
    });
    is("a full map", "MapFullException", () -> {
      File small = new File(folder.getParentFile(), "small");
      small.mkdir();
      try (Env<ByteBuffer> full = Env.create().setMapSize(64 << 10).open(small)) {
        Dbi<ByteBuffer> dbi = full.openDbi((String) null);
        for (int number = 0; number < 100; number++) {
          dbi.put(bytes(key(number)), ByteBuffer.allocateDirect(3000));
        }
        return "all stored";
      }
    });
    is("threads that read while one writes", 8, () -> {
      Dbi<ByteBuffer> dbi = env.openDbi("threads", DbiFlags.MDB_CREATE);
      ExecutorService pool = Executors.newFixedThreadPool(9);
      List<Future<Boolean>> readers = new ArrayList<>();
      dbi.put(bytes("a"), bytes("0"));
      dbi.put(bytes("b"), bytes("0"));
      Future<?> writer = pool.submit(() -> {
        for (int number = 1; number <= 300; number++) {
          try (Txn<ByteBuffer> txn = env.txnWrite()) {
            dbi.put(txn, bytes("a"), bytes("" + number));
            dbi.put(txn, bytes("b"), bytes("" + number));
            txn.commit();
          }
        }
      });
      for (int reader = 0; reader < 8; reader++) {
        readers.add(pool.submit(() -> {
          for (int turn = 0; turn < 2000; turn++) {
            try (Txn<ByteBuffer> txn = env.txnRead()) {
              if (!text(dbi.get(txn, bytes("a"))).equals(text(dbi.get(txn, bytes("b"))))) {
                return false;
              }
            }
          }
          return true;
        }));
      }
      int right = 0;
      for (Future<Boolean> reader : readers) {
        right += reader.get() ? 1 : 0;
      }
      writer.get();
      pool.shutdown();
      return right;
    });
    is("byte arrays", "value", () -> {
      File arrays = new File(folder.getParentFile(), "arrays");
      arrays.mkdir();
      try (Env<byte[]> other = Env.create(ByteArrayProxy.PROXY_BA).setMaxDbs(1).open(arrays)) {
        Dbi<byte[]> dbi = other.openDbi("x", DbiFlags.MDB_CREATE);
        dbi.put("key".getBytes(UTF_8), "value".getBytes(UTF_8));
        try (Txn<byte[]> txn = other.txnRead()) {
          return new String(dbi.get(txn, "key".getBytes(UTF_8)), UTF_8);
        }
      }
    });
  }

  public static void main(String[] arguments) {
    File folder = new File(arguments[0], "environment");
    folder.mkdir();
    try (Env<ByteBuffer> env = open(folder, EnvFlags.MDB_NOSYNC)) {
      plain(env);
      ranges(env);
      duplicates(env);
      environments(env, folder);
    }
    try (Env<ByteBuffer> env = open(folder, EnvFlags.MDB_RDONLY_ENV)) {
      is("opened again", "later", () -> one(env));
    }
    System.out.println("done");
  }
}
