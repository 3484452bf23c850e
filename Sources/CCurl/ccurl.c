#define _GNU_SOURCE
#include "ccurl.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct curl_client {
  CURL *curl;
  size_t most;
  long stall;
  char *body;
  size_t count;
  curl_request *request;
  int64_t read;
  char location[4096];
  char problem[CURL_ERROR_SIZE];
};

curl_client *curl_client_new(size_t most_of_body, long stall_seconds) {
  curl_client *client = calloc(1, sizeof *client);
  if (!client) return NULL;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  client->curl = curl_easy_init();
  client->most = most_of_body;
  client->stall = stall_seconds;
  if (!client->curl) {
    free(client);
    return NULL;
  }
  return client;
}

void curl_client_free(curl_client *client) {
  curl_easy_cleanup(client->curl);
  free(client->body);
  free(client);
}

static size_t read_body(char *buffer, size_t size, size_t count, void *context) {
  curl_client *client = context;
  curl_request *request = client->request;
  int64_t rest = request->length - client->read;
  size_t wanted = size * count;
  if ((int64_t)wanted > rest) wanted = (size_t)rest;
  if (wanted == 0) return 0;
  if (request->bytes) {
    memcpy(buffer, (const char *)request->bytes + client->read, wanted);
  } else {
    ssize_t got = pread(request->file, buffer, wanted, request->offset + client->read);
    // The file is shorter than it was, or cannot be read.
    if (got <= 0) return CURL_READFUNC_ABORT;
    wanted = (size_t)got;
  }
  client->read += (int64_t)wanted;
  return wanted;
}

static int seek_body(void *context, curl_off_t offset, int origin) {
  curl_client *client = context;
  if (origin != SEEK_SET || offset < 0 || offset > client->request->length) return CURL_SEEKFUNC_FAIL;
  client->read = offset;
  return CURL_SEEKFUNC_OK;
}

static size_t write_body(char *bytes, size_t size, size_t count, void *context) {
  curl_client *client = context;
  size_t added = size * count;
  if (added > client->most - client->count) return 0;
  char *body = realloc(client->body, client->count + added + 1);
  if (!body) return 0;
  client->body = body;
  memcpy(body + client->count, bytes, added);
  client->count += added;
  return added;
}

static void take(const char *line, size_t count, const char *name, char *to, size_t most) {
  size_t length = strlen(name);
  if (count < length || strncasecmp(line, name, length) != 0) return;
  line += length;
  count -= length;
  while (count && (*line == ' ' || *line == '\t')) line++, count--;
  while (count && (line[count - 1] == '\r' || line[count - 1] == '\n' || line[count - 1] == ' ')) count--;
  if (count >= most) return;
  memcpy(to, line, count);
  to[count] = 0;
}

static size_t read_header(char *line, size_t size, size_t count, void *context) {
  curl_client *client = context;
  char offset[32] = "";
  take(line, size * count, "location:", client->location, sizeof client->location);
  take(line, size * count, "upload-offset:", offset, sizeof offset);
  if (offset[0]) {
    char *end;
    long long value = strtoll(offset, &end, 10);
    if (*end == 0 && value >= 0) client->request->upload_offset = value;
  }
  return size * count;
}

static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t sent) {
  (void)a, (void)b, (void)c;
  curl_client *client = context;
  return client->request->progress ? client->request->progress(client->request->context, sent) : 0;
}

void curl_client_run(curl_client *client, curl_request *request) {
  CURL *curl = client->curl;
  curl_easy_reset(curl);
  client->request = request;
  client->read = 0;
  client->count = 0;
  request->status = 0;
  request->upload_offset = -1;
  client->location[0] = 0;
  client->problem[0] = 0;
  request->is_unreachable = 0;
  struct curl_slist *headers = NULL;
  for (size_t index = 0; index < request->header_count; index++) {
    struct curl_slist *more = curl_slist_append(headers, request->headers[index]);
    if (!more) break;
    headers = more;
  }
  curl_easy_setopt(curl, CURLOPT_URL, request->url);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 20L);
  // Neither a byte sent nor one received for so long.
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, client->stall);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->problem);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, write_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, client);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, read_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, client);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, client);
  if (request->length >= 0) {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->length);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, read_body);
    curl_easy_setopt(curl, CURLOPT_READDATA, client);
    curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek_body);
    curl_easy_setopt(curl, CURLOPT_SEEKDATA, client);
  } else if (strcmp(request->method, "HEAD") == 0) {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  }
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  CURLcode code = curl_easy_perform(curl);
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &request->status);
  if (code == CURLE_OK) {
    client->problem[0] = 0;
  } else {
    if (!client->problem[0]) strncpy(client->problem, curl_easy_strerror(code), sizeof client->problem - 1);
    request->is_unreachable = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST;
    // An answer that came before the body was sent counts.
    if (request->status < 400) request->status = 0;
  }
  request->location = client->location[0] ? client->location : NULL;
  request->problem = client->problem;
  request->body = client->body;
  request->body_count = client->count;
  curl_slist_free_all(headers);
}
