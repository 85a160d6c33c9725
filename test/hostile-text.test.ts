/**
 * Every function that reads stored or foreign text takes linear time, whatever the text is: a note, a tool's output, a web page
 * or a model's reply must never stop the daemon. Here with the pieces that have found the most; `hostile-text.long.ts` tries all.
 */
import { describeHostileText } from './support/hostile-cases.ts'

describeHostileText([' ', '\n', 'a', '"', '.', '- ', 'a\n', '[](', '\\"', 'password: '])
