// Sends the request that the form on a page of the API reference describes, and shows the answer.

const form = document.querySelector('form.try')
const mostShown = 100_000

if (form) {
  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const status = form.querySelector('[role=status]')
    status.textContent = 'Asking …'
    ask(status).catch(() => {
      status.textContent = 'The service did not answer.'
    })
  })
}

async function ask(status) {
  const path = addressOf()
  const response = await fetch(path, { headers: { Accept: '*/*' } })
  const text = await response.text()
  const left = response.headers.get('RateLimit')
  status.textContent = `${response.status} of ${path}${left ? `; left: ${left}` : ''}`
  const answer = form.querySelector('.answer')
  answer.hidden = false
  const shown = readable(text, response.headers.get('Content-Type') ?? '')
  answer.firstElementChild.textContent = shown.length > mostShown ? `${shown.slice(0, mostShown)}\n…` : shown
}

function addressOf() {
  let path = form.dataset.path
  const query = new URLSearchParams()
  for (const field of form.querySelectorAll('[data-in]')) {
    const value = field.value.trim()
    if (field.dataset.in === 'path') path = path.replace(`{${field.name}}`, encodeURIComponent(value))
    else if (value !== '') query.append(field.name, value)
  }
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

/** JSON with indentation; amounts and ids keep every digit. Other types are returned unchanged. */
function readable(text, type) {
  if (!type.includes('json') || type.includes('ndjson')) return text
  try {
    const keep = (_key, value, context) =>
      typeof value === 'number' && context ? (JSON.rawJSON?.(context.source) ?? value) : value
    return JSON.stringify(JSON.parse(text, keep), null, 2)
  } catch {
    return text
  }
}
