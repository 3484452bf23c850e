#pragma once
#include <stddef.h>
#include <stdint.h>

/* A file, group or dataset; negative on failure. */
typedef int64_t scanmill_hdf5;

/* What the elements of a dataset are: numbers, or bytes and UTF-8 of any length. */
typedef enum {
  scanmill_hdf5_uint8,
  scanmill_hdf5_uint16,
  scanmill_hdf5_int64,
  scanmill_hdf5_float64,
  scanmill_hdf5_bytes,
  scanmill_hdf5_text,
} scanmill_hdf5_type;

/*
 * Loads HDF5 unless it is loaded. Returns NULL, or why it cannot be used. All other functions here but the
 * version need a call that returned NULL; only one thread may be in any of them. Those that return int return 0 on success.
 */
const char *scanmill_hdf5_load(void);

/* The version of the header that this was built with. */
const char *scanmill_hdf5_version(void);

/* A new or emptied file, readable by HDF5 1.8 and later. No object in it has times. */
scanmill_hdf5 scanmill_hdf5_create(const char *path);
/* Closes all that is open in it, too. */
int scanmill_hdf5_close_file(scanmill_hdf5 file);

scanmill_hdf5 scanmill_hdf5_group(scanmill_hdf5 parent, const char *name);
int scanmill_hdf5_close_group(scanmill_hdf5 group);

/*
 * A dataset whose first dimension are rows. With `chunk_rows` above 0 it is chunked, and the number of rows may change;
 * numbers are then filtered by shuffle and gzip.
 */
scanmill_hdf5 scanmill_hdf5_dataset(
  scanmill_hdf5 parent, const char *name, scanmill_hdf5_type type, int rank,
  const uint64_t *dimensions, uint64_t chunk_rows);
int scanmill_hdf5_set_rows(scanmill_hdf5 dataset, int rank, const uint64_t *dimensions);
int scanmill_hdf5_close_dataset(scanmill_hdf5 dataset);

/* Writes rows of numbers. */
int scanmill_hdf5_write(
  scanmill_hdf5 dataset, scanmill_hdf5_type type, int rank, const uint64_t *first,
  const uint64_t *count, const void *numbers);

/* Writes a row of bytes or text (which ends with 0). */
int scanmill_hdf5_write_element(
  scanmill_hdf5 dataset, scanmill_hdf5_type type, uint64_t row, const void *bytes, size_t count);

/* Writes a chunk that is shuffled and compressed already. */
int scanmill_hdf5_write_chunk(
  scanmill_hdf5 dataset, const uint64_t *first, const void *bytes, size_t count);

/* Adds UTF-8 to a group or dataset. */
int scanmill_hdf5_attribute(scanmill_hdf5 object, const char *name, const char *text);

/* The system's error number that the last failure came from; 0: it did not come from the system. */
int scanmill_hdf5_errno(void);
