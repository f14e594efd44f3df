// Guide page: a document in Markdown becomes a page without any script but the theme's.
import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { type GuidePage, guideGroups, guidePages } from './guide-pages.ts';

const guideRoot = '/docs/guide';

/** The address of a page on a running platform. */
export function addressOf({ slug }: GuidePage): string {
  return slug === '' ? guideRoot : `${guideRoot}/${slug}`;
}

/** The page as HTML. Throws for a link to a document of the guide that has no such heading. */
export function guidePageOf(page: GuidePage, markdown: string): string {
  const ids = new Set<string>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = freeId(headingId(text), ids);
        const content = this.parser.parseInline(tokens);
        return `<h${depth} id="${id}"><a href="#${id}">${content}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        const target = targetOf(page, href);
        return target === undefined ? content : `<a href="${escaped(target)}">${content}</a>`;
      },
      table({ header, rows }) {
        const cells = (row: readonly Tokens.TableCell[], tag: string): string =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
        const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        const scroll = '<div class="scroll" tabindex="0" role="group" aria-label="Table">';
        return `${scroll}<table><thead><tr>${cells(header, 'th')}</tr></thead><tbody>${body}</tbody></table></div>\n`;
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`;
      },
      // Documents of the project have no HTML; what looks like it is shown as it is written.
      html({ text }) {
        return escaped(text);
      },
    },
  });
  const content = marked.parse(markdown, { async: false });
  return pageOf(page, content);
}

/** As GitHub makes them, so that links work in both places. */
export function headingId(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function freeId(wanted: string, ids: Set<string>): string {
  let id = wanted;
  for (let n = 1; ids.has(id); n++) id = `${wanted}-${n}`;
  ids.add(id);
  return id;
}

/** The address on the platform; undefined for a file that is only in the repository. */
function targetOf(page: GuidePage, href: string): string | undefined {
  if (/^(https?:|\/|#)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const source = posix.join(posix.dirname(page.source), path);
  const target = guidePages.find((one) => one.source === source);
  if (target === undefined) return undefined;
  return addressOf(target) + (anchor === undefined ? '' : `#${anchor}`);
}

function pageOf(page: GuidePage, content: string): string {
  const at = guidePages.indexOf(page);
  const steps = [stepOf('previous', guidePages[at - 1]), stepOf('next', guidePages[at + 1])];
  const heading = page.slug === '' ? 'Heliograph' : `${page.title} · Heliograph`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(heading)}</title>
<link rel="icon" href="/sun.svg" type="image/svg+xml">
<link rel="stylesheet" href="${guideRoot}/guide.css">
<script src="/theme.js"></script>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header><a href="${guideRoot}"><img src="/sun.svg" alt="" width="24" height="24">Heliograph</a>
<span><a href="/docs/">API reference</a><a href="/">Console</a></span></header>
<div class="columns">
<nav aria-label="Contents"><details open><summary>Contents</summary>${contentsOf(page)}</details></nav>
<main id="content">
${content}
<footer>${steps.join('')}</footer>
</main>
</div>
</body>
</html>
`;
}

function contentsOf(current: GuidePage): string {
  const groups = guideGroups.map(({ title, pages }) => {
    const links = pages.map((page) => {
      const mark = page === current ? ' aria-current="page"' : '';
      return `<li><a href="${addressOf(page)}"${mark}>${escaped(page.title)}</a></li>`;
    });
    return `<p>${escaped(title)}</p><ul>${links.join('')}</ul>`;
  });
  return groups.join('\n');
}

function stepOf(rel: 'previous' | 'next', page: GuidePage | undefined): string {
  if (page === undefined) return '';
  const sign = rel === 'next' ? `${escaped(page.title)} →` : `← ${escaped(page.title)}`;
  return `<a rel="${rel === 'next' ? 'next' : 'prev'}" class="${rel}" href="${addressOf(page)}">${sign}</a>`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
