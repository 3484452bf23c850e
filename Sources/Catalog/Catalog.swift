import GRDB

/// The database beside the results: derived, and made again whenever it is missing, old or broken.
public enum CatalogFile {
  public static let name = "catalog.sqlite"
}
