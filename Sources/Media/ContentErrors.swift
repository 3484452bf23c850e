import Core
import SystemPackage

extension VideoError: ContentError {
  public var contentFile: FilePath? { file.isEmpty ? nil : file }
}

extension ImageError: ContentError {
  public var contentFile: FilePath? { file }
}

extension StructureShiftDamage: ContentError {
  public var contentFile: FilePath? { nil }
}
