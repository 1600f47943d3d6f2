/* Keys, values, and the environments that workloads begin with. */
#include <string.h>
#include "workload.h"

uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t z = a * 0x9e3779b97f4a7c15u + b * 0xd1b54a32d192ed03u + 0x632be59bd9b4e019u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void hex(char *to, unsigned digits, uint64_t number)
{
	for (unsigned i = digits; i-- > 0; number >>= 4)
		to[i] = "0123456789abcdef"[number & 15];
	to[digits] = 0;
}

void record_key(char key[17], uint64_t i)
{
	hex(key, 16, mix(1, i));
}

void sorted_key(char key[17], uint64_t i)
{
	hex(key, 16, i);
}

void dup_value(char value[25], uint64_t key, uint64_t i)
{
	hex(value, 16, mix(key + 2, i));
	hex(value + 16, 8, i);
}

uint64_t digest(uint64_t so_far, const MDB_val *value)
{
	uint64_t word = 0;
	memcpy(&word, value->mv_data, value->mv_size < 8 ? value->mv_size : 8);
	return so_far * 0x9e3779b97f4a7c15u + word + value->mv_size;
}

unsigned database_flags(enum content content)
{
	switch (content) {
	case NUMBERS: return MDB_INTEGERKEY;
	case DUPS: case FEW_DUPS: return MDB_DUPSORT;
	case FIXED: return MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP;
	default: return 0;
	}
}

/* Item i of a content. */
static void item(const struct sizes *size, enum content content, uint64_t i, MDB_val *key, MDB_val *data)
{
	static char name[32], text[128];
	static uint64_t number, large[1 << 15];
	*key = (MDB_val){ 16, name };
	*data = (MDB_val){ 100, text };
	switch (content) {
	case NUMBERS:
		number = mix(3, i);
		*key = *data = (MDB_val){ 8, &number };
		break;
	case DUPS:
		sorted_key(name, i % size->dup_keys);
		dup_value(text, i % size->dup_keys, i / size->dup_keys);
		data->mv_size = 24;
		break;
	case FEW_DUPS:
		record_key(name, i % size->few_keys);
		dup_value(text, i % size->few_keys, i / size->few_keys);
		data->mv_size = 12;
		break;
	case FIXED:
		sorted_key(name, i % size->dup_keys);
		number = mix(4, i);
		*data = (MDB_val){ 8, &number };
		break;
	case LARGE:
		sorted_key(name, i);
		large[0] = mix(5, i);
		*data = (MDB_val){ size->large_bytes, large };
		break;
	default:
		record_key(name, i);
		memset(text, 'a' + (int)(i % 26), 100);
		memcpy(text, &i, 8);
	}
}

static uint64_t items(const struct sizes *size, enum content content)
{
	switch (content) {
	case RECORDS: return size->read_records;
	case SOME: return size->write_records;
	case NUMBERS: return size->number_records;
	case DUPS: return size->dup_keys * size->dups_each;
	case FEW_DUPS: return size->few_keys * 8;
	case FIXED: return size->dup_keys * size->fixed_each;
	case LARGE: return size->large_records;
	default: return 0;
	}
}

void fill_content(struct side *side, enum content content)
{
	uint64_t count = items(side->size, content);
	MDB_txn *txn = begin(side, 0);
	for (uint64_t i = 0; i < count; i++) {
		MDB_val key, data;
		item(side->size, content, i, &key, &data);
		MUST_(side, side->db.put(txn, side->dbi, &key, &data, 0));
		if (i % 100000 == 99999) {
			commit(side, txn);
			txn = begin(side, 0);
		}
	}
	commit(side, txn);
}
