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
        ((ts.isArrayBindingPattern(node.name) && isLiteral(node.initializer, ts.isArrayLiteralExpression)) ||
          (ts.isObjectBindingPattern(node.name) && isLiteral(node.initializer, ts.isObjectLiteralExpression))),
    ),
  )
  expect(wrong).toEqual([])
})

function isLiteral(node: ts.Expression | undefined, is: (node: ts.Node) => boolean): boolean {
  return node !== undefined && is(ts.isAsExpression(node) ? node.expression : node)
}
