// @ts-check
// npm run docs:pictures: the test that takes them, with the folder of the documentation.
import { readArguments } from './arguments.mjs'

const usage = `
npm run docs:pictures

Takes the pictures of the pages in docs/ again, of a directory made for them. Installs chromium where npm test would.
`

if (readArguments(usage)) {
  process.env.PICTURES_FOLDER = 'docs'
  process.argv.push('test/pages/pictures.test.ts')
  await import('./test.mjs')
}
