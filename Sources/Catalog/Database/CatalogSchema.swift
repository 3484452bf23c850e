import GRDB

/// The tables of `catalog.sqlite`. Another version: everything is made anew.
enum CatalogSchema {
  /// Raised when a table, or the form of what is in it, changes.
  static let version = 3

  static let tables = """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE captures (
      id TEXT PRIMARY KEY, state TEXT NOT NULL, family TEXT, path TEXT, device TEXT, scene TEXT,
      recordedAt TEXT, frames INTEGER, attempts INTEGER NOT NULL, warnings INTEGER NOT NULL,
      missing TEXT NOT NULL, lastRun TEXT, cause TEXT, message TEXT, pipeline TEXT NOT NULL,
      stamp TEXT, stageFolders TEXT NOT NULL, folder TEXT, stem TEXT, outputs INTEGER NOT NULL,
      entry BLOB NOT NULL, entryDigest TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE streams (
      capture TEXT NOT NULL, name TEXT NOT NULL, file TEXT, encoding TEXT, frames INTEGER);
    CREATE TABLE stages (
      capture TEXT NOT NULL, stage TEXT NOT NULL, uses TEXT NOT NULL, state TEXT NOT NULL,
      reason TEXT, details TEXT);
    CREATE TABLE timings (
      capture TEXT NOT NULL, stage TEXT NOT NULL, seconds REAL NOT NULL, cpuSeconds REAL NOT NULL,
      frames INTEGER NOT NULL, bytes INTEGER NOT NULL, finished TEXT NOT NULL);
    CREATE TABLE warnings (
      capture TEXT NOT NULL, code TEXT NOT NULL, subject TEXT NOT NULL, message TEXT NOT NULL,
      count INTEGER NOT NULL, severity TEXT NOT NULL);
    CREATE TABLE runs (
      id TEXT PRIMARY KEY, started TEXT NOT NULL, finished TEXT, pipeline TEXT, host TEXT,
      captures INTEGER NOT NULL, stamp TEXT NOT NULL, entry BLOB NOT NULL, entryDigest TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE attempts (
      run TEXT NOT NULL, capture TEXT NOT NULL, outcome TEXT, cause TEXT, message TEXT, started TEXT,
      finished TEXT, frames INTEGER NOT NULL, bytesWritten INTEGER NOT NULL, cpuSeconds REAL NOT NULL);
    CREATE INDEX streamsByCapture ON streams (capture);
    CREATE INDEX stagesByCapture ON stages (capture);
    CREATE INDEX timingsByCapture ON timings (capture);
    CREATE INDEX warningsByCapture ON warnings (capture);
    CREATE INDEX warningsByCode ON warnings (code);
    CREATE INDEX attemptsByRun ON attempts (run);
    CREATE INDEX attemptsByCapture ON attempts (capture);
    CREATE VIRTUAL TABLE search USING fts5 (id UNINDEXED, text, tokenize = 'trigram case_sensitive 1');
    """

  /// Tables with rows per capture.
  static let ofCaptures = ["streams", "stages", "timings", "warnings"]
}
