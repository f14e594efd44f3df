// Tile grid: the tiles of a dashboard in their places, to be read or to be arranged.
import { useId } from 'react';
import { toast } from '../../../ui/toasts.tsx';
import { late } from '../../../ui/late.tsx';
import { useWords } from '../../../words/language.tsx';
import type { Tile } from '../dashboard-model.ts';
import { BarTile, LineTile } from '../tiles/line-tile.tsx';
import { StateTile, TableTile } from '../tiles/list-tiles.tsx';
import { TextTile } from '../tiles/text-tile.tsx';
import { useTitleOf } from '../tiles/tile-data.ts';
import { ValueTile } from '../tiles/value-tile.tsx';
import { gridWords } from './grid-words.ts';
import styles from './grid.module.css';
import { inReadingOrder, without } from './layout.ts';
import { TileBox } from './tile-box.tsx';
import { type GridEdit, useGridEdit } from './use-grid-edit.ts';

const MapTile = late('MapTile', async () => (await import('../tiles/map-tile.tsx')).MapTile);

export function TileGrid({ tiles }: { readonly tiles: readonly Tile[] }) {
  const values = tiles.filter(({ kind }) => kind === 'value');
  return (
    <div className={styles['grid']}>
      {inReadingOrder(tiles).map((tile) => (
        <TileBox key={tile.id} tile={tile} edit={undefined}>
          <TileContent tile={tile} colorAt={values.indexOf(tile)} />
        </TileBox>
      ))}
    </div>
  );
}

interface TileEditorProps {
  readonly tiles: readonly Tile[];
  readonly change: (tiles: Tile[]) => void;
  readonly settings: (tile: Tile) => void;
}

export function TileEditor({ tiles, change, settings }: TileEditorProps) {
  const words = useWords(gridWords);
  const titleOf = useTitleOf();
  const helpId = useId();
  const grid = useGridEdit(tiles, change);
  const remove = (tile: Tile) => {
    change(without(tiles, tile.id));
    toast(words.removed(titleOf(tile)), () => change([...tiles]));
  };
  const edit = { grid, helpId, settings, remove };
  const values = tiles.filter(({ kind }) => kind === 'value').map(({ id }) => id);
  return (
    <>
      <p id={helpId} className="sr">
        {words.help}
      </p>
      <p role="status" className="sr">
        <News grid={grid} />
      </p>
      <div className={styles['grid']} data-grid data-editing="true">
        {/* In the order of the list: an element that moves in the page loses the focus. */}
        {grid.tiles.map((tile) => (
          <TileBox key={tile.id} tile={tile} edit={edit}>
            <TileContent tile={tile} colorAt={values.indexOf(tile.id)} />
          </TileBox>
        ))}
      </div>
    </>
  );
}

function News({ grid: { news } }: { readonly grid: GridEdit }) {
  const words = useWords(gridWords);
  const titleOf = useTitleOf();
  if (news === undefined) return null;
  const { x, y, width, height } = news.tile;
  const place = words.place(x + 1, y + 1, width, height);
  return words.news[news.what](titleOf(news.tile), place);
}

function TileContent({ tile, colorAt }: { readonly tile: Tile; readonly colorAt: number }) {
  if (tile.kind === 'value') return <ValueTile tile={tile} colorAt={colorAt} />;
  if (tile.kind === 'line') return <LineTile tile={tile} />;
  if (tile.kind === 'bar') return <BarTile tile={tile} />;
  if (tile.kind === 'table') return <TableTile tile={tile} />;
  if (tile.kind === 'state') return <StateTile tile={tile} />;
  if (tile.kind === 'map') return <MapTile tile={tile} />;
  return <TextTile tile={tile} />;
}
