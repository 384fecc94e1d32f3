// @ts-check
// npm run docs:pictures: the test that takes them, with the folder of the documentation.
import { readArguments } from './arguments.mjs'

const usage = `
npm run docs:pictures

Takes the pictures of the pages in docs/pictures/, from a directory made for them. Installs chromium under the same conditions as
npm test.
`

if (readArguments(usage)) {
  process.env.PICTURES_FOLDER = 'docs/pictures'
  process.argv.push('test/pages/pictures.test.ts')
  await import('./test.mjs')
}
