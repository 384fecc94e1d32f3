import { readFileSync } from 'node:fs'
import { Router } from 'express'
import { chainNames, chainOf } from '../../config/chains.ts'
import { answerAlways } from '../http/answer.ts'
import { Content } from '../http/content.ts'
import { refuseMethod } from '../http/error-answer.ts'

const files = {
  'style.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'claim.js': 'text/javascript; charset=utf-8',
  'live.js': 'text/javascript; charset=utf-8',
  'local.js': 'text/javascript; charset=utf-8',
  'try.js': 'text/javascript; charset=utf-8',
} as const

/** Cache lifetime of files that change only with a new version of the program. */
const maxAgeSeconds = 300

/** Routes of the static files that pages load; each file is read once, at the start. */
export function assets(): Router {
  const router = Router({ caseSensitive: true })
  for (const [name, type] of Object.entries(files)) {
    const file = readFileSync(new URL(`assets/${name}`, import.meta.url))
    const text = name === 'style.css' ? Buffer.concat([file, Buffer.from(hues())]) : file
    router.get(`/assets/${name}`, answerAlways(new Content(type, text), maxAgeSeconds))
    router.all(`/assets/${name}`, refuseMethod(['GET', 'HEAD']))
  }
  return router
}

/** CSS rules with the colour of each chain, from the chain table. */
function hues(): string {
  return chainNames.map((name) => `.chain.${name} { --hue: ${chainOf(name).hue} }\n`).join('')
}
