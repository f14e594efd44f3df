// Text tile: notes in Markdown, as elements of the page.
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import styles from './tiles.module.css';

export function TextTile({ tile }: { readonly tile: BoundTile }) {
  const blocks = readMarkdown(tile.text ?? '');
  return (
    <div className={styles['text']}>
      {blocks.map((block, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- blocks have no other identity
        <BlockOf key={at} block={block} />
      ))}
    </div>
  );
}

function BlockOf({ block }: { readonly block: Block }) {
  if (block.kind === 'paragraph')
    return (
      <p>
        <Inlines inlines={block.inlines} />
      </p>
    );
  if (block.kind === 'heading')
    return (
      <h3 data-level={block.level}>
        <Inlines inlines={block.inlines} />
      </h3>
    );
  const List = block.isOrdered ? 'ol' : 'ul';
  return (
    <List>
      {block.items.map((item, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- items have no other identity
        <li key={at}>
          <Inlines inlines={item} />
        </li>
      ))}
    </List>
  );
}

function Inlines({ inlines }: { readonly inlines: readonly Inline[] }) {
  return inlines.map((inline, at) => {
    const key = `${at} ${inline.kind}`;
    if (inline.kind === 'strong') return <strong key={key}>{inline.text}</strong>;
    if (inline.kind === 'emphasis') return <em key={key}>{inline.text}</em>;
    if (inline.kind === 'code')
      return (
        <code key={key} className="mono">
          {inline.text}
        </code>
      );
    if (inline.kind === 'link')
      return (
        <a key={key} href={inline.href} rel="noreferrer noopener">
          {inline.text}
        </a>
      );
    return inline.text;
  });
}

// Markdown: the part of it that notes on a dashboard use, read into blocks; never into HTML.

export type Inline =
  | { readonly kind: 'text' | 'strong' | 'emphasis' | 'code'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3; readonly inlines: readonly Inline[] }
  | { readonly kind: 'paragraph'; readonly inlines: readonly Inline[] }
  | {
      readonly kind: 'list';
      readonly isOrdered: boolean;
      readonly items: readonly (readonly Inline[])[];
    };

const listItem = /^\s*(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;

export function readMarkdown(source: string): readonly Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  const endParagraph = () => {
    if (lines.length > 0)
      blocks.push({ kind: 'paragraph', inlines: readInlines(lines.join('\n')) });
    lines = [];
  };
  let list: { isOrdered: boolean; items: (readonly Inline[])[] } | undefined;
  const endList = () => {
    if (list !== undefined) blocks.push({ kind: 'list', ...list });
    list = undefined;
  };
  for (const line of source.split(/\r?\n/)) {
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const item = listItem.exec(line);
    if (item !== null) {
      endParagraph();
      const isOrdered = item[1] !== undefined;
      if (list?.isOrdered !== isOrdered) endList();
      list ??= { isOrdered, items: [] };
      list.items.push(readInlines(item[2] ?? ''));
      continue;
    }
    endList();
    if (heading !== null) {
      endParagraph();
      const level = Math.min(3, heading[1]?.length ?? 1) as 1 | 2 | 3;
      blocks.push({ kind: 'heading', level, inlines: readInlines(heading[2] ?? '') });
    } else if (line.trim() === '') endParagraph();
    else lines.push(line);
  }
  endParagraph();
  endList();
  return blocks;
}

const marks =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\*([^*\n]+)\*|\[([^\]\n]{1,500})\]\(([^()\s]{1,2000})\)/g;

function readInlines(text: string): readonly Inline[] {
  const inlines: Inline[] = [];
  let end = 0;
  for (const match of text.matchAll(marks)) {
    if (match.index > end) inlines.push({ kind: 'text', text: text.slice(end, match.index) });
    inlines.push(inlineOf(match));
    end = match.index + match[0].length;
  }
  if (end < text.length) inlines.push({ kind: 'text', text: text.slice(end) });
  return inlines;
}

function inlineOf([whole, code, strong, emphasis, linkText, href]: RegExpExecArray): Inline {
  if (code !== undefined) return { kind: 'code', text: code };
  if (strong !== undefined) return { kind: 'strong', text: strong };
  if (emphasis !== undefined) return { kind: 'emphasis', text: emphasis };
  if (linkText !== undefined && href !== undefined && isSafe(href))
    return { kind: 'link', text: linkText, href };
  return { kind: 'text', text: whole };
}

/** Pages of the web and of the console; any other scheme could run code. */
function isSafe(href: string): boolean {
  return /^https?:\/\//i.test(href) || /^\/(?!\/)/.test(href);
}
