extension OutputLayout {
  /// A capture id as a folder name, as `OutputName` says.
  public static func folderName(forID id: String) -> String { OutputName.of(id: id) }
}
