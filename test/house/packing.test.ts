import ts from 'typescript'
import { expect, test } from 'vitest'
import { places, readSources } from '../support/source-files.ts'

test('no literal is spread into a literal of its own kind: its parts stand there by themselves', async () => {
  const wrong = (await readSources()).flatMap((file) =>
    places(
      file,
      (node) =>
        (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression)) ||
        (ts.isSpreadElement(node) &&
          ts.isArrayLiteralExpression(node.expression) &&
          ts.isArrayLiteralExpression(node.parent)),
    ),
  )
  expect(wrong).toEqual([])
})

test('a declaration takes no literal apart: one constant, one declaration', async () => {
  const wrong = (await readSources()).flatMap((file) =>
    places(
      file,
      (node) =>
        ts.isVariableDeclaration(node) &&
        ((ts.isArrayBindingPattern(node.name) && isListOfValues(node.initializer)) ||
          (ts.isObjectBindingPattern(node.name) && isObject(node.initializer))),
    ),
  )
  expect(wrong).toEqual([])
})

/** Whether an expression is an array literal without a spread: destructuring `[...values]` is legitimate. */
function isListOfValues(node: ts.Expression | undefined): boolean {
  const list = node && ts.isAsExpression(node) ? node.expression : node
  return list !== undefined && ts.isArrayLiteralExpression(list) && !list.elements.some(ts.isSpreadElement)
}

function isObject(node: ts.Expression | undefined): boolean {
  return node !== undefined && ts.isObjectLiteralExpression(node) && !node.properties.some(ts.isSpreadAssignment)
}

test('a test whose checks all stand in loops says that one of its lists is not empty', async () => {
  const tests = (await readSources()).filter(({ path }) => path.endsWith('.test.ts'))
  const wrong = tests.flatMap((file) =>
    places(file, (node) => isTestBody(node) && mayCheckNothing(node, () => valuesIn(file.tree))),
  )
  expect(wrong).toEqual([])
})

/** Values that names of a file are declared with; null: those of another file, tables as a rule. */
type Values = ReadonlyMap<string, ts.Expression | null>

function valuesIn(tree: ts.SourceFile): Values {
  const values = new Map<string, ts.Expression | null>()
  const visit = (node: ts.Node) => {
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer)
      values.set(node.name.text, node.initializer)
    if (ts.isImportSpecifier(node)) values.set(node.name.text, null)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return values
}

function isTestBody(node: ts.Node): node is ts.ArrowFunction {
  if (!ts.isArrowFunction(node) || !ts.isCallExpression(node.parent)) return false
  let called: ts.Expression = node.parent.expression
  while (ts.isCallExpression(called) || ts.isPropertyAccessExpression(called)) called = called.expression
  return ts.isIdentifier(called) && called.text === 'test'
}

/** Whether no check of a test stands outside of loops over lists that may be empty. A test without checks fails by throwing. */
function mayCheckNothing(body: ts.Node, known: () => Values): boolean {
  let checks = 0
  let sure = 0
  const visit = (node: ts.Node, mayBeLeftOut: boolean) => {
    if (sure > 0) return
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'expect') {
      checks++
      if (!mayBeLeftOut) sure++
    }
    const leftOut = mayBeLeftOut || (ts.isForOfStatement(node) && !isFilled(node.expression, known()))
    ts.forEachChild(node, (child) => visit(child, leftOut))
  }
  visit(body, false)
  return checks > 0 && sure === 0
}

/** Whether an expression is a list that its file says has something. */
function isFilled(node: ts.Expression, known: Values): boolean {
  if (
    ts.isAsExpression(node) ||
    ts.isNonNullExpression(node) ||
    ts.isAwaitExpression(node) ||
    ts.isParenthesizedExpression(node)
  )
    return isFilled(node.expression, known)
  if (ts.isArrayLiteralExpression(node))
    return node.elements.some((one) => !ts.isSpreadElement(one) || isFilled(one.expression, known))
  if (ts.isObjectLiteralExpression(node)) return node.properties.length > 0
  if (ts.isStringLiteralLike(node)) return node.text !== ''
  if (ts.isIdentifier(node)) {
    const value = known.get(node.text)
    return value === null || (value !== undefined && isFilled(value, known))
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false
  const { expression, name } = node.expression
  if (expression.getText() === 'Object') return node.arguments.every((one) => isFilled(one, known))
  return /^(entries|map|toSorted|slice)$/.test(name.text) && isFilled(expression, known)
}
