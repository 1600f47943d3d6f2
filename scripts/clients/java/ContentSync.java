import com.unboundid.asn1.ASN1OctetString;
import com.unboundid.ldap.sdk.*;
import com.unboundid.ldap.sdk.controls.*;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** Copies a directory by content synchronisation (RFC 4533), as the UnboundID SDK decodes it. */
public final class ContentSync implements AsyncSearchResultListener, IntermediateResponseListener {
    private static final String SUFFIX = System.getenv("SUFFIX");
    private static final String USER = System.getenv("USER_DN");

    private final Lock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();
    private final Map<UUID, String> copy = new HashMap<>();
    private final Set<UUID> named = new HashSet<>();
    private ASN1OctetString cookie;
    private int deletions;
    private boolean isRefreshed;
    private String trouble;

    private static void check(final String what, final boolean good, final Object... details) {
        System.out.println(good ? "ok " + what : "FAILED " + what + " " + java.util.List.of(details));
    }

    @Override
    public void searchEntryReturned(final SearchResultEntry entry) {
        lock.lock();
        try {
            final ContentSyncStateControl state = ContentSyncStateControl.get(entry);
            named.add(state.getEntryUUID());
            switch (state.getState()) {
                case DELETE -> gone(state.getEntryUUID());
                case PRESENT -> { }
                default -> copy.put(state.getEntryUUID(), entry.getDN());
            }
            keep(state.getCookie());
        } catch (final Exception error) {
            trouble = error.toString();
        } finally {
            news.signalAll();
            lock.unlock();
        }
    }

    @Override
    public void searchReferenceReturned(final SearchResultReference reference) {
    }

    @Override
    public void intermediateResponseReturned(final IntermediateResponse response) {
        lock.lock();
        try {
            final ContentSyncInfoIntermediateResponse info = ContentSyncInfoIntermediateResponse.decode(response);
            switch (info.getType()) {
                case NEW_COOKIE -> { }
                case REFRESH_DELETE -> isRefreshed |= info.refreshDone();
                case REFRESH_PRESENT -> {
                    copy.keySet().retainAll(named);
                    isRefreshed |= info.refreshDone();
                }
                case SYNC_ID_SET -> {
                    named.addAll(info.getEntryUUIDs());
                    if (info.refreshDeletes()) {
                        info.getEntryUUIDs().forEach(this::gone);
                    }
                }
            }
            keep(info.getCookie());
        } catch (final Exception error) {
            trouble = error.toString();
        } finally {
            news.signalAll();
            lock.unlock();
        }
    }

    @Override
    public void searchResultReceived(final AsyncRequestID id, final SearchResult result) {
    }

    private void gone(final UUID uuid) {
        deletions++;
        copy.remove(uuid);
    }

    private void keep(final ASN1OctetString other) {
        cookie = other == null ? cookie : other;
    }

    private SearchRequest request(final ContentSyncRequestMode mode) throws LDAPException {
        named.clear();
        deletions = 0;
        final SearchRequest request = new SearchRequest(this, SUFFIX, SearchScope.SUB, "(objectClass=*)");
        request.addControl(new ContentSyncRequestControl(mode, cookie, false));
        request.setIntermediateResponseListener(this);
        return request;
    }

    private void refresh(final LDAPConnection connection) throws LDAPException {
        final SearchResult result = connection.search(request(ContentSyncRequestMode.REFRESH_ONLY));
        final ContentSyncDoneControl done = ContentSyncDoneControl.get(result);
        if (!done.refreshDeletes()) {
            copy.keySet().retainAll(named);
        }
        keep(done.getCookie());
    }

    private boolean isEqual(final LDAPConnection connection) throws LDAPException {
        final Map<UUID, String> expected = new HashMap<>();
        for (final SearchResultEntry entry
                : connection.search(SUFFIX, SearchScope.SUB, "(objectClass=*)", "entryUUID").getSearchEntries()) {
            expected.put(UUID.fromString(entry.getAttributeValue("entryUUID")), entry.getDN());
        }
        return expected.equals(copy) && trouble == null;
    }

    private boolean waitFor(final java.util.function.BooleanSupplier isDone) throws InterruptedException {
        lock.lock();
        try {
            long left = TimeUnit.SECONDS.toNanos(30);
            while (!isDone.getAsBoolean() && left > 0) {
                left = news.awaitNanos(left);
            }
            return isDone.getAsBoolean();
        } finally {
            lock.unlock();
        }
    }

    private static String name(final int number) {
        return "cn=sync " + number + ",ou=People," + SUFFIX;
    }

    private static void add(final LDAPConnection connection, final int number) throws LDAPException {
        connection.add(name(number), new Attribute("objectClass", "person"), new Attribute("sn", "x"),
                new Attribute("cn", "sync " + number));
    }

    public static void main(final String[] arguments) throws Exception {
        final int port = Integer.parseInt(System.getenv("PORT"));
        final String password = System.getenv("USER_PASSWORD");
        final LDAPConnection writer = new LDAPConnection("localhost", port, USER, password);
        final LDAPConnection reader = new LDAPConnection("localhost", port, USER, password);
        final ContentSync consumer = new ContentSync();
        consumer.refresh(reader);
        check("a first refresh", consumer.copy.size() > 30 && consumer.isEqual(writer), consumer.copy.size(), "" + consumer.trouble);
        for (int number = 0; number < 4; number++) {
            add(writer, number);
        }
        consumer.refresh(reader);
        check("added entries", consumer.isEqual(writer), "" + consumer.trouble);
        writer.delete(name(0));
        writer.delete(name(1));
        writer.modifyDN(name(2), "cn=sync renamed", true);
        consumer.refresh(reader);
        check("deletions", consumer.isEqual(writer), consumer.deletions, "" + consumer.trouble);

        final AsyncRequestID id = reader.asyncSearch(consumer.request(ContentSyncRequestMode.REFRESH_AND_PERSIST));
        check("the refresh ends", consumer.waitFor(() -> consumer.isRefreshed));
        add(writer, 5);
        writer.delete(name(3));
        check("the persist stage", consumer.waitFor(() -> consumer.deletions == 1), consumer.deletions);
        check("is equal", consumer.isEqual(writer), "" + consumer.trouble);
        reader.abandon(id);
        writer.delete(name(5));
        writer.delete("cn=sync renamed,ou=People," + SUFFIX);
        writer.close();
        reader.close();
        System.out.println("done");
    }
}
