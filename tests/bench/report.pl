#!/usr/bin/env perl
# report.pl <roles> <attempts> <replay lines> [<lines of other tuners>]
#
# Tables and limits from what replay and tuners.py print.  Exit status 1: a
# limit is not kept.
use strict;
use warnings;

my ($roles, $attempts, @files) = @ARGV;
my (%role, @kernels, %share, %goal, %outside, @policies, %seen, @notes);
my $failed = 0;

sub quantile {			# of a sorted list, between its values
	my ($p, @v) = @_;
	my $at = $p * $#v;
	my $i = int $at;

	return $v[$i] if $i >= $#v || $v[$i] == $v[$i + 1];
	return $v[$i] + ($at - $i) * ($v[$i + 1] - $v[$i]);
}

sub median { return quantile(0.5, sort { $a <=> $b } @_) }

sub number { return $_[0] >= 1e6 ? 'never' : sprintf '%.1f', $_[0] }

sub limit {
	my ($what, $number, $good, $text) = @_;

	printf "  %-58s %8s (%s)  %s\n", $what, $number, $text,
		$good ? 'PASS' : 'FAIL';
	$failed = 1 if !$good;
}

open my $in, '<', $roles or die "$roles: $!\n";
while (<$in>) {
	next unless /^(train|test) (\S+)$/;
	$role{$2} = $1;
	push @kernels, $2;
}
for my $file (@files) {
	open my $f, '<', $file or die "$file: $!\n";
	while (<$f>) {
		chomp;
		if (/^#/) {
			push @notes, $_;
			next;
		}
		my ($k, $p, $seed, @v) = split /\t/;
		push @policies, $p unless $seen{$p}++;
		if (@v > 1) {
			push @{$share{$k}{$p}}, shift @v;
			$outside{$p} += $v[1];
		}
		push @{$goal{$k}{$p}}, $v[0] eq '-' ? 9**9 : $v[0];
	}
}
@kernels = grep { $share{$_} } @kernels;
my @ours = grep { $share{$kernels[0]}{$_} } @policies;
my @others = grep { !$share{$kernels[0]}{$_} } @policies;

sub test { return grep { $role{$_} eq 'test' } @kernels }

# ---- shares ----

printf "share of the table's best after %d attempts, median [p10 p90]:\n",
	$attempts;
printf "  %-14s %-5s" . " %-17s" x @ours . "\n", 'kernel', '', @ours;
for my $k (@kernels) {
	printf "  %-14s %-5s", $k, $role{$k};
	for my $p (@ours) {
		my @v = sort { $a <=> $b } @{$share{$k}{$p}};

		printf " %.3f [%.2f %.2f]", map { quantile($_, @v) } .5, .1, .9;
	}
	print "\n";
}
print "proposals in no table: ", join(', ', map { "$_ $outside{$_}" }
	grep { $outside{$_} } @ours), "\n" if grep { $_ } values %outside;

print "adaptive over the best policy, on kernels that chose nothing:\n";
my ($near, $least, $nr) = (0, 9, 0);
for my $k (test()) {
	my ($best) = sort { median(@{$share{$k}{$b}}) <=>
		median(@{$share{$k}{$a}}) } @ours;
	my $ratio = median(@{$share{$k}{adaptive}}) /
		median(@{$share{$k}{$best}});

	printf "  %-14s %.3f of %s\n", $k, $ratio, $best;
	$near += $ratio >= 0.95;
	$least = $ratio if $ratio < $least;
	$nr++;
}
limit("within 5 % of the best policy", "$near of $nr", $near >= 0.8 * $nr,
	'at least 80 %');
limit('the worst of them', sprintf('%.3f', $least), $least >= 0.9,
	'at least 0.9');

# ---- attempts to the goal ----

# Where the root is that good already there is nothing to find.
my @open = grep { median(@{$goal{$_}{random}}) > 0 } @kernels;

print "attempts to 95 % of the table's best, median of the seeds:\n";
printf "  %-14s %-5s" . " %9s" x @ours . "\n", 'kernel', '', @ours;
for my $k (@open) {
	printf "  %-14s %-5s" . " %9s" x @ours . "\n", $k, $role{$k},
		map { number(median(@{$goal{$k}{$_}})) } @ours;
}
print "  (of no use here, the root is as good: ", join(', ', grep {
	my $k = $_; !grep { $_ eq $k } @open } @kernels), ")\n"
	if @open < @kernels;

sub over {			# median over kernels of a tuner's medians
	my ($p, @k) = @_;

	return median(map { median(@{$goal{$_}{$p}}) } @k);
}

my @held = grep { $role{$_} eq 'test' } @open;
print "the same, median over kernels:\n";
for my $p (@ours) {
	printf "  %-30s all %6s, kernels that chose nothing %6s\n", $p,
		number(over($p, @open)), number(over($p, @held));
}
my $mine = over('adaptive', @held);
my %over;
for my $p (@others) {
	next if grep { !$goal{$_}{$p} } @held;
	$over{$p} = over($p, @held);
}
for my $p (sort { $over{$a} <=> $over{$b} } keys %over) {
	printf "  %-30s %10s kernels that chose nothing %6s\n", $p, '',
		number($over{$p});
}
my %told;
print "$_\n" for grep { !$told{$_}++ } @notes;
limit('adaptive over random', sprintf('%.2f', $mine /
	over('random', @held)), $mine <= 0.5 * over('random', @held),
	'at most 0.5');
my ($peer) = sort { $over{$a} <=> $over{$b} } grep { /^kt:/ } keys %over;
limit("adaptive over Kernel Tuner's best ($peer)", sprintf('%.2f',
	$mine / $over{$peer}), $mine <= 0.5 * $over{$peer}, 'at most 0.5')
	if $peer;
limit('adaptive over opentuner', sprintf('%.2f', $mine / $over{opentuner}),
	$mine <= 0.5 * $over{opentuner}, 'at most 0.5') if $over{opentuner};
exit $failed;
