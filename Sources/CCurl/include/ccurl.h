#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>
#include <stdint.h>

// Requests through libcurl, whose options are given by functions that Swift cannot call.

typedef struct curl_client curl_client;

typedef struct {
  // Of the request.
  const char *_Nullable method;
  const char *_Nullable url;
  // `count` lines such as `Content-Type: text/plain`.
  const char *_Nullable const *_Nullable headers;
  size_t header_count;
  // The body: `length` bytes, of the file from `offset` on, or of `bytes` where that is not NULL. -1: no body.
  int file;
  int64_t offset;
  int64_t length;
  const void *_Nullable bytes;
  // Called as bytes are sent, with the number of those of this body; another result than 0 ends the request.
  int (*_Nullable progress)(void *_Nullable context, int64_t sent);
  void *_Nullable context;

  // Of the answer. `status` 0: there was none.
  long status;
  // Of the answer's headers; NULL: none. It belongs to the client until its next request, as `problem` does: Swift would
  // make a tuple of 4,096 elements of an array, which takes a minute to compile.
  const char *_Nullable location;
  // -1: there was no Upload-Offset.
  int64_t upload_offset;
  // Of the body of the answer, at most what `curl_client_new` was told; belongs to the client until its next request.
  const char *_Nullable body;
  size_t body_count;
  // Why there was no answer; empty: there was one.
  const char *_Nullable problem;
  // Whether not even a connection was made.
  int is_unreachable;
} curl_request;

// NULL without memory. Follows no redirect, and speaks HTTP and HTTPS only.
curl_client *_Nullable curl_client_new(size_t most_of_body, long stall_seconds);
void curl_client_free(curl_client *_Nonnull client);

// One request. Connections are used again.
void curl_client_run(curl_client *_Nonnull client, curl_request *_Nonnull request);

#endif
