#!/usr/bin/env perl
# The peer's way to keep a search: one JSON file of all nodes, texts included,
# indented by two spaces, written to a temporary file and renamed whenever a
# node is added and again when its numbers are known.
#
#	peer.pl <search> <worker> <kernel's file> <number> <adds> <scratch>
#
# Takes that many nodes of the search in this repository, adds some of them
# once more and prints "<ms a node> <MiB of the file> <ms to load it>".  What
# a node looks like in JSON is made once and kept, and loading only finds the
# ends of the strings: less work than any program that uses the file does.
use strict;
use warnings;
use Time::HiRes qw(time);

my ($search, $worker, $file, $number, $adds, $scratch) = @ARGV;
my $json = "$scratch/search_graph.json";

# commit -> blob of its note
sub notes {
	my %blob;
	open my $in, '-|', qw(git ls-tree -r),
		"refs/notes/maxkernel/$search/$_[0]/$worker" or die;
	while (<$in>) {
		my ($blob, $path) = /^\S+ blob (\S+)\t(\S+)$/ or next;
		$path =~ tr,/,,d;
		$blob{$path} = $blob;
	}
	return \%blob;
}

sub quoted {
	my ($s) = @_;
	$s =~ s/([\\"])/\\$1/g;
	$s =~ s/\n/\\n/g;
	$s =~ s/\t/\\t/g;
	return qq("$s");
}

sub read_blob {
	my ($in) = @_;
	my $head = <$in>;
	my ($len) = $head =~ / (\d+)$/ or return '';	# "missing"
	read($in, my $text, $len);
	<$in>;
	return $text;
}

my ($plan, $metrics) = (notes('plan'), notes('metrics'));
my @id = grep { $plan->{$_} } sort keys %$metrics;
splice @id, $number if @id > $number;
open my $want, '>', "$scratch/want" or die;
print $want "$_:$file\n$plan->{$_}\n$metrics->{$_}\n" for @id;
close $want;
open my $in, '-|', "git cat-file --batch <'$scratch/want'" or die;
my @node;
for my $id (@id) {
	my ($code, $why, $line) = map { read_blob($in) } 1 .. 3;
	push @node, qq(    "$id": {\n      "id": "$id",\n      "plan": )
		. quoted($why) . qq(,\n      "kernel": ) . quoted($code)
		. qq(,\n      "metrics": ) . quoted($line) . "\n    }";
}

sub save {
	open my $out, '>', "$json.tmp" or die "$json.tmp: $!";
	print $out qq({\n  "nodes": {\n);
	for my $i (0 .. $#node) {
		print $out ($i ? ",\n" : ''), $node[$i];
	}
	print $out "\n  }\n}\n";
	close $out or die;
	rename "$json.tmp", $json or die;
}

my $start = time;
for my $i (1 .. $adds) {
	push @node, $node[$i];
	save();			# it is there
	save();			# and has its numbers
}
my $per = (time - $start) * 1000 / $adds;
$start = time;
open my $read, '<', $json or die;
my $text = do { local $/; <$read> };
my $strings = 0;
$strings++ while $text =~ /"(?:[^"\\]+|\\.)*"/g;
my $load = (time - $start) * 1000;
printf "%.1f %.1f %.0f\n", $per, (-s $json) / 1048576, $load;
unlink $json, "$scratch/want";
