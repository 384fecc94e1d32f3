import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { checkSdk, SdkProcessor } from '../../processors/source/sdk.ts'
import { listFiles, root } from '../support/source-files.ts'

const sdkPackage = '/node_modules/@subsquid/'
const sdkTypes = '/processors/source/sdk.ts'
/** Types of the SDK whose objects may be assigned to: it hands them out to be filled in. */
const records = ['SdkNodeBlock']
const timeout = 400_000

/** A file with forbidden assignments; it exists in memory alone. */
const patched = 'processors/source/patched.ts'

test('nothing is assigned to an object of the SDK, and where something would be it is found', { timeout }, () => {
  const files = listFiles().filter((path) => path.startsWith('processors/') && path.endsWith('.ts'))
  const text = `
    import { EvmBatchProcessor } from '@subsquid/evm-processor'
    import type { SdkArchive, SdkNodeBlock } from './sdk.ts'
    export function patch(archive: SdkArchive, block: SdkNodeBlock) {
      archive.getHeight = async () => 0
      block._isInvalid = true
      new EvmBatchProcessor().run = () => {}
      Object.assign(archive, {})
      Object.defineProperty(archive, 'query', {})
    }`
  // One program for both cases, because reading the SDK's types takes most of the time.
  expect(
    findAssignments(
      [...files, patched].map((path) => join(root, path)),
      { [join(root, patched)]: text },
    ),
  ).toEqual([5, 7, 8, 9].map((line) => `${patched}:${line}`))
})

test('an SDK without a method that is overridden here stops the process at its start', () => {
  checkSdk()
  const { prototype } = SdkProcessor as unknown as { prototype: { getLogger?: unknown } }
  const descriptor = Object.getOwnPropertyDescriptor(prototype, 'getLogger') as PropertyDescriptor
  try {
    delete prototype.getLogger
    expect(checkSdk).toThrow('has no EvmBatchProcessor.getLogger')
  } finally {
    Object.defineProperty(prototype, 'getLogger', descriptor)
  }
})

/** `path:line` of every assignment to a property of a value whose type is the SDK's. */
function findAssignments(paths: readonly string[], texts: Readonly<Record<string, string>> = {}): string[] {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, root)
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists } = host
  host.readFile = (path) => texts[path] ?? readFile.call(host, path)
  host.fileExists = (path) => path in texts || fileExists.call(host, path)
  const program = ts.createProgram(paths, options, host)
  const checker = program.getTypeChecker()
  return paths.flatMap((path) => {
    const tree = program.getSourceFile(path) as ts.SourceFile
    const found: string[] = []
    const visit = (node: ts.Node) => {
      const target = targetOf(node)
      if (target && isOfSdk(checker.getTypeAtLocation(target))) {
        const { line } = tree.getLineAndCharacterOfPosition(node.getStart(tree))
        found.push(`${path.slice(root.length).replace(/^\//, '')}:${line + 1}`)
      }
      ts.forEachChild(node, visit)
    }
    visit(tree)
    return found
  })
}

/** The object whose property a node assigns; undefined: it assigns none, or one of `this`. */
function targetOf(node: ts.Node): ts.Expression | undefined {
  if (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
    node.operatorToken.kind <= ts.SyntaxKind.LastAssignment &&
    (ts.isPropertyAccessExpression(node.left) || ts.isElementAccessExpression(node.left)) &&
    node.left.expression.kind !== ts.SyntaxKind.ThisKeyword
  ) {
    return node.left.expression
  }
  const isDefining =
    ts.isCallExpression(node) && /^(Object|Reflect)\.(assign|define\w+|set\w*)$/.test(node.expression.getText())
  return isDefining ? node.arguments[0] : undefined
}

function isOfSdk(type: ts.Type): boolean {
  if (type.isUnionOrIntersection()) return type.types.some(isOfSdk)
  const symbol = type.aliasSymbol ?? type.getSymbol()
  if (!symbol || records.includes(symbol.name)) return false
  const files = (symbol.declarations ?? []).map((declaration) => declaration.getSourceFile().fileName)
  return files.some((file) => file.includes(sdkPackage) || file.endsWith(sdkTypes))
}
