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
