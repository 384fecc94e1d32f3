import { type RequestHandler, Router } from 'express'
import { apiChanges } from '../changelog/changes.ts'
import { answerAlways } from '../http/answer.ts'
import { type Content, contentOf } from '../http/content.ts'
import { refuseMethod } from '../http/error-answer.ts'
import { json } from '../http/route.ts'
import { giveAskingPolicy } from '../pages/content-security-policy.ts'
import type { Site } from '../pages/parts/layout.ts'
import { htmlType } from '../pages/parts/page.ts'
import { answerPage, answersPage } from './answers.ts'
import { cataloguePages } from './catalogues.ts'
import { changelogPage, changelogText } from './changelog.ts'
import { type ApiDocument, requestPath, requestsOf } from './document.ts'
import { graphqlPage, sqlPage } from './elsewhere.ts'
import { limitsPage } from './limits.ts'
import { llmsText } from './llms.ts'
import { llmsFullText } from './llms-full.ts'
import { openApiDocument } from './openapi.ts'
import { overviewPage } from './overview.ts'
import { requestPage } from './request.ts'
import { answerPath } from './schema.ts'

/** Cache lifetime of documents that change only with a new version of the program. */
const maxAgeSeconds = 300

/**
 * /openapi.json: the OpenAPI document; /docs and below: the same for people, some pages also as Markdown with `.md`
 * behind the path; /llms.txt: an index of the API for language models, /llms-full.txt: the whole reference.
 */
export function docsRoutes(site: Site & { readonly baseUrl: string }): Router {
  const { baseUrl } = site
  const document = openApiDocument()
  const reference = document as unknown as ApiDocument
  const router = Router({ caseSensitive: true })
  const serve = (path: string, type: string, write: () => string, ...before: RequestHandler[]) => {
    let content: Content | undefined
    router.get(path, ...before, (req, res, next) => {
      content ??= contentOf(type, write())
      return answerAlways(content, maxAgeSeconds)(req, res, next)
    })
    router.all(path, refuseMethod(['GET', 'HEAD']))
  }
  const page = (path: string, write: () => string, markdown?: () => string) => {
    if (!markdown) return serve(path, htmlType, write, giveAskingPolicy)
    serve(path, htmlType, write, giveAskingPolicy, nameMarkdown(baseUrl + path))
    serve(`${path}.md`, 'text/markdown; charset=utf-8', markdown)
  }
  const everything = () => llmsFullText(reference, baseUrl)
  serve('/openapi.json', json, () => JSON.stringify(document))
  serve('/llms.txt', 'text/plain; charset=utf-8', () => llmsText(baseUrl))
  serve('/llms-full.txt', 'text/plain; charset=utf-8', everything)
  page('/docs', () => overviewPage(reference, site, baseUrl), everything)
  page('/docs/answers', () => answersPage(reference, site))
  page('/docs/limits', () => limitsPage(site))
  page('/docs/graphql', () => graphqlPage(site, baseUrl))
  page('/docs/sql', () => sqlPage(site))
  page(
    '/docs/changelog',
    () => changelogPage(site, apiChanges),
    () => changelogText(baseUrl, apiChanges),
  )
  for (const { path, html, markdown } of cataloguePages) page(path, () => html(site), markdown)
  for (const request of requestsOf(reference)) {
    page(requestPath(request.operation.operationId), () => requestPage(request, site, baseUrl))
  }
  for (const [name, schema] of Object.entries(reference.components.schemas)) {
    page(answerPath(name), () => answerPage(name, schema, site))
  }
  return router
}

/** Names the Markdown version of a page in the header `Link`. */
const nameMarkdown =
  (url: string): RequestHandler =>
  (_req, res, next) => {
    res.setHeader('Link', `<${url}.md>; rel="alternate"; type="text/markdown"`)
    next()
  }
