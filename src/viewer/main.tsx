// First, so that a view's own style comes after what all of them share.
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/parts.css'
import { render } from 'preact'
import { enter, followLinks } from './access.ts'
import { App, Locked } from './app.tsx'
import { connect } from './connection.ts'
import { followKeys } from './keys.ts'
import { followSessions } from './model/sessions.ts'
import { followStatus } from './model/status.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no place for the application')

followLinks()
const entry = await enter().catch(() => ({ token: null, why: 'The daemon does not answer.' }))
if (entry.token === null) {
  render(<Locked why={entry.why} />, root)
} else {
  followSessions()
  followStatus()
  followKeys()
  connect(entry.token)
  render(<App />, root)
}
