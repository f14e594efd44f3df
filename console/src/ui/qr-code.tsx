// QR code: a string as dark squares on light ground in every theme, because cameras need that contrast.
import encodeQR from 'qr';
import { useMemo } from 'react';
import styles from './qr-code.module.css';

interface QrCodeProps {
  readonly content: string;
  /** What it is for; next to it there is another way to get the content. */
  readonly label: string;
}

export function QrCode({ content, label }: QrCodeProps) {
  const rows = useMemo(() => encodeQR(content, 'raw', { border: 4 }), [content]);
  const squares = rows
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg
      className={styles['code']}
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={squares} fill="#000" />
    </svg>
  );
}
