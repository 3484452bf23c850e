#define _GNU_SOURCE
#include "CHDF5.h"

#include <dlfcn.h>
#include <hdf5/serial/hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header's constants call functions first, which would link the library. */
#undef H5CHECK
#undef H5OPEN
#define H5CHECK
#define H5OPEN

/* The version of the library's binary interface that belongs to the header. */
#if H5_VERS_MAJOR == 1 && H5_VERS_MINOR == 10
static const char *const file_name = "libhdf5_serial.so.103", *const package = "libhdf5-103-1";
#elif H5_VERS_MAJOR == 1 && H5_VERS_MINOR == 14
static const char *const file_name = "libhdf5_serial.so.310", *const package = "libhdf5-310";
#else
#error "The name of the library belongs to HDF5 1.10 or 1.14: look it up for the installed one"
#endif

static struct {
#define F(library, name) __typeof__(&name) name;
#include "functions.h"
#undef F
} at;

static const struct {
  const char *name;
  void **place;
} functions[] = {
#define F(library, name) {#name, (void **)&at.name},
#include "functions.h"
#undef F
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[512];

static void load(void) {
  void *handle = dlopen(file_name, RTLD_LAZY | RTLD_LOCAL);
  if (handle == NULL) {
    const char *why = dlerror();
    snprintf(
      problem, sizeof problem, "%s cannot be loaded: %s; install %s", file_name,
      why != NULL ? why : "no reason given", package);
    return;
  }
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *address = dlsym(handle, functions[i].name);
    if (address == NULL) {
      snprintf(
        problem, sizeof problem, "%s has no %s: build this program again with it", file_name,
        functions[i].name);
      return;
    }
    *functions[i].place = address;
  }
  /* A file that could not be closed, since the disk is full, is not tried again at the end of the process. */
  if (at.H5dont_atexit() < 0 || at.H5open() < 0 || at.H5Eset_auto2(H5E_DEFAULT, NULL, NULL) < 0)
    snprintf(problem, sizeof problem, "%s cannot be started", file_name);
}

const char *scanmill_hdf5_load(void) {
  pthread_once(&once, load);
  return problem[0] != 0 ? problem : NULL;
}

#define TEXT(number) #number
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *scanmill_hdf5_version(void) { return VERSION(H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE); }

static int system_error;

static herr_t look(unsigned place, const H5E_error2_t *error, void *user) {
  (void)place;
  (void)user;
  const char *number = error->desc != NULL ? strstr(error->desc, "errno = ") : NULL;
  if (number != NULL && system_error == 0)
    system_error = atoi(number + strlen("errno = "));
  return 0;
}

/* Keeps what the library says about a failure, which it forgets at the next call. */
static int64_t checked(int64_t result) {
  if (result < 0) {
    system_error = 0;
    at.H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look, NULL);
  }
  return result;
}

int scanmill_hdf5_errno(void) { return system_error; }

/* Properties of a new object without times. */
static hid_t properties(hid_t class) {
  hid_t list = at.H5Pcreate(class);
  if (list >= 0)
    at.H5Pset_obj_track_times(list, 0);
  return list;
}

scanmill_hdf5 scanmill_hdf5_create(const char *path) {
  hid_t creation = properties(*at.H5P_CLS_FILE_CREATE_ID_g);
  hid_t access = at.H5Pcreate(*at.H5P_CLS_FILE_ACCESS_ID_g);
  hid_t file = -1;
  /* Not every file system of a cluster has locks; the folder is locked by the caller. */
  if (
    at.H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
    at.H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
    at.H5Pset_file_locking(access, 0, 1) >= 0)
    file = checked(at.H5Fcreate(path, H5F_ACC_TRUNC, creation, access));
  at.H5Pclose(access);
  at.H5Pclose(creation);
  return file;
}

int scanmill_hdf5_close_file(scanmill_hdf5 file) { return checked(at.H5Fclose(file)) < 0; }

scanmill_hdf5 scanmill_hdf5_group(scanmill_hdf5 parent, const char *name) {
  hid_t creation = properties(*at.H5P_CLS_GROUP_CREATE_ID_g);
  hid_t group = checked(at.H5Gcreate2(parent, name, H5P_DEFAULT, creation, H5P_DEFAULT));
  at.H5Pclose(creation);
  return group;
}

int scanmill_hdf5_close_group(scanmill_hdf5 group) { return checked(at.H5Gclose(group)) < 0; }

/* The type of elements, to be closed. */
static hid_t element(scanmill_hdf5_type type) {
  hid_t made;
  switch (type) {
  case scanmill_hdf5_uint8:
    return at.H5Tcopy(*at.H5T_STD_U8LE_g);
  case scanmill_hdf5_uint16:
    return at.H5Tcopy(*at.H5T_STD_U16LE_g);
  case scanmill_hdf5_int64:
    return at.H5Tcopy(*at.H5T_STD_I64LE_g);
  case scanmill_hdf5_float64:
    return at.H5Tcopy(*at.H5T_IEEE_F64LE_g);
  case scanmill_hdf5_bytes:
    return at.H5Tvlen_create(*at.H5T_STD_U8LE_g);
  case scanmill_hdf5_text:
    made = at.H5Tcopy(*at.H5T_C_S1_g);
    at.H5Tset_size(made, H5T_VARIABLE);
    at.H5Tset_cset(made, H5T_CSET_UTF8);
    return made;
  }
  return -1;
}

scanmill_hdf5 scanmill_hdf5_dataset(
  scanmill_hdf5 parent, const char *name, scanmill_hdf5_type type, int rank,
  const uint64_t *dimensions, uint64_t chunk_rows) {
  if (rank < 1 || rank > 4)
    return -1;
  hsize_t size[4], most[4], chunk[4];
  for (int i = 0; i < rank; i++)
    size[i] = most[i] = chunk[i] = dimensions[i];
  hid_t creation = properties(*at.H5P_CLS_DATASET_CREATE_ID_g);
  int is_ready = creation >= 0;
  if (chunk_rows > 0) {
    most[0] = H5S_UNLIMITED;
    chunk[0] = chunk_rows;
    is_ready = is_ready && at.H5Pset_chunk(creation, rank, chunk) >= 0;
    if (type != scanmill_hdf5_bytes && type != scanmill_hdf5_text)
      is_ready = is_ready && at.H5Pset_shuffle(creation) >= 0 && at.H5Pset_deflate(creation, 4) >= 0;
  }
  hid_t space = at.H5Screate_simple(rank, size, most);
  hid_t made = element(type);
  hid_t dataset = -1;
  if (is_ready)
    dataset = checked(at.H5Dcreate2(parent, name, made, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  at.H5Tclose(made);
  at.H5Sclose(space);
  at.H5Pclose(creation);
  return dataset;
}

int scanmill_hdf5_set_rows(scanmill_hdf5 dataset, int rank, const uint64_t *dimensions) {
  hsize_t size[4];
  for (int i = 0; i < rank && i < 4; i++)
    size[i] = dimensions[i];
  return checked(at.H5Dset_extent(dataset, size)) < 0;
}

int scanmill_hdf5_close_dataset(scanmill_hdf5 dataset) { return checked(at.H5Dclose(dataset)) < 0; }

int scanmill_hdf5_write(
  scanmill_hdf5 dataset, scanmill_hdf5_type type, int rank, const uint64_t *first,
  const uint64_t *count, const void *numbers) {
  if (rank < 1 || rank > 4)
    return 1;
  hsize_t start[4], size[4];
  for (int i = 0; i < rank; i++) {
    start[i] = first[i];
    size[i] = count[i];
    if (size[i] == 0)
      return 0;
  }
  hid_t file = at.H5Dget_space(dataset);
  hid_t memory = at.H5Screate_simple(rank, size, NULL);
  hid_t made = element(type);
  int failed = at.H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, size, NULL) < 0 ||
               checked(at.H5Dwrite(dataset, made, memory, file, H5P_DEFAULT, numbers)) < 0;
  at.H5Tclose(made);
  at.H5Sclose(memory);
  at.H5Sclose(file);
  return failed;
}

int scanmill_hdf5_write_element(
  scanmill_hdf5 dataset, scanmill_hdf5_type type, uint64_t row, const void *bytes, size_t count) {
  const uint64_t one = 1;
  const hvl_t sequence = {count, (void *)bytes};
  return scanmill_hdf5_write(
    dataset, type, 1, &row, &one,
    type == scanmill_hdf5_text ? (const void *)&bytes : (const void *)&sequence);
}

int scanmill_hdf5_write_chunk(
  scanmill_hdf5 dataset, const uint64_t *first, const void *bytes, size_t count) {
  hsize_t start[4] = {first[0], 0, 0, 0};
  return checked(at.H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, start, count, bytes)) < 0;
}

int scanmill_hdf5_attribute(scanmill_hdf5 object, const char *name, const char *text) {
  hid_t space = at.H5Screate(H5S_SCALAR);
  hid_t made = element(scanmill_hdf5_text);
  hid_t attribute = at.H5Acreate2(object, name, made, space, H5P_DEFAULT, H5P_DEFAULT);
  int failed = attribute < 0 || checked(at.H5Awrite(attribute, made, &text)) < 0;
  if (attribute >= 0)
    failed = at.H5Aclose(attribute) < 0 || failed;
  at.H5Tclose(made);
  at.H5Sclose(space);
  return failed;
}
