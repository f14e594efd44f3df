// Text tile: notes in Markdown, as elements of the page.
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { type Block, type Inline, readMarkdown } from './markdown.ts';
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
